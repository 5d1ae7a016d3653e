/** A part of the server's page: its heading, and what went wrong while it was read. */
import type { ComponentChildren } from 'preact';
import { Command } from '../parts/command.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import type { Load } from '../state/load.ts';

export function Section(props: { title: string; answered?: Load<unknown>; children: ComponentChildren }) {
  const { title, answered, children } = props;
  const id = `server-${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;
  return (
    <section
      class="ssec"
      aria-labelledby={id}
      aria-busy={answered && answered.value === null && answered.error === null}
    >
      <h2 id={id}>{title}</h2>
      {answered && answered.error !== null && <ProblemLine error={answered.error} onRetry={answered.reload} />}
      {children}
    </section>
  );
}

/** Changes that only the person's own key makes: what each does, and its line. */
export const Changes = ({ lines, summary }: { lines: [string, string][]; summary: string }) => (
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
