/** Runs the same tests on both databases; `TEST_DATABASES=sqlite` narrows it while typing. */
export type Engine = 'sqlite' | 'postgres';

const engines = (process.env['TEST_DATABASES'] ?? 'sqlite,postgres').split(',') as Engine[];

export function forEachDatabase(title: string, define: (engine: Engine) => void): void {
  for (const engine of engines) {
    describe(`${title} (${engine})`, () => define(engine));
  }
}
