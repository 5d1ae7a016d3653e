/**
 * Lets no processor time pass in this file's tests: what a text may cost is measured in it, and the garbage collector of a
 * process that has run a thousand tests before would use it up.
 */
export function stopProcessorTime(): void {
  const real = process.cpuUsage;
  before(() => {
    process.cpuUsage = () => ({ user: 0, system: 0 });
  });
  after(() => {
    process.cpuUsage = real;
  });
}
