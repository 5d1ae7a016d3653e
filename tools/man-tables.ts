/** The man pages of variables and exit codes. */
import { exitCodes, files, variables } from '../src/cli/help/tables.ts';
import { entry, plain, section, title } from './roff.ts';

/** service-environment(7) */
export function environmentPage(version: string): string {
  return page('service-environment', version, 'variables that the board service reads', [
    ...section(
      'VARIABLES',
      variables.flatMap(([name, meaning]) => entry(name, meaning)),
    ),
    ...section(
      'FILES',
      files.flatMap(([name, meaning]) => entry(name, meaning)),
    ),
  ]);
}

/** service-exit-codes(7) */
export function exitCodesPage(version: string): string {
  return page('service-exit-codes', version, 'what the exit codes of the board service mean', [
    ...section(
      'EXIT STATUS',
      exitCodes.flatMap(([code, meaning]) => entry(String(code), meaning)),
    ),
  ]);
}

function page(name: string, version: string, summary: string, body: string[]): string {
  const lines = [
    title(name, 7, version),
    ...section('NAME', [`${plain(name)} \\- ${plain(summary)}`]),
    ...body,
    ...section('SEE ALSO', ['service(1)']),
  ];
  return `${lines.join('\n')}\n`;
}
