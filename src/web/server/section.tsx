/** A section of the server screen with its heading and load error. */
import type { ComponentChildren } from 'preact';
import { Command } from '../parts/command.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import type { Load } from '../state/load.ts';

export function Section(props: { title: string; load?: Load<unknown>; children: ComponentChildren }) {
  const { title, load, children } = props;
  const id = `server-${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;
  return (
    <section class="ssec" aria-labelledby={id} aria-busy={load && load.value === null && load.error === null}>
      <h2 id={id}>{title}</h2>
      {load && load.error !== null && <ProblemLine error={load.error} onRetry={load.reload} />}
      {children}
    </section>
  );
}

/** Commands that need the person's own key: description and command line. */
export const CommandList = ({ lines, summary }: { lines: [string, string][]; summary: string }) => (
  <details class="changes">
    <summary>{summary}</summary>
    {lines.map(([what, line]) => (
      <div key={line}>
        <p class="q2">{what}</p>
        <Command line={line} />
      </div>
    ))}
  </details>
);
