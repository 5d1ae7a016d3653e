/**
 * The usual list of tests, or a dot for each with TEST_REPORTER=dot, and last one plain line that any machine can read. With
 * TEST_REPORT it writes the counts, the failures, what was left out and the seconds of each file there.
 */
const { writeFileSync } = require('node:fs');
const { relative } = require('node:path');
const { reporters } = require('mocha');

module.exports = class extends (process.env.TEST_REPORTER === 'dot' ? reporters.Dot : reporters.Spec) {
  #report = { passed: 0, failures: [], pending: [], seconds: {} };
  #began = performance.now();
  #file = '';

  constructor(runner, options) {
    super(runner, options);
    const fileOf = (one) => (one.file ? relative(process.cwd(), one.file) : this.#file);
    runner.on('suite', (suite) => {
      if (!suite.root) this.#turnTo(fileOf(suite));
    });
    runner.on('pass', () => this.#report.passed++);
    const told = (test) => ({ file: fileOf(test), title: test.fullTitle() });
    runner.on('fail', (test) => this.#report.failures.push(told(test)));
    runner.on('pending', (test) => this.#report.pending.push(told(test)));
  }

  /** Counts the time until now for the file before, with loading all files for the first. */
  #turnTo(file) {
    if (file === this.#file) return;
    const now = performance.now();
    const { seconds } = this.#report;
    if (this.#file)
      seconds[this.#file] = Math.round(((seconds[this.#file] ?? 0) + (now - this.#began) / 1000) * 10) / 10;
    this.#began = now;
    this.#file = file;
  }

  epilogue() {
    super.epilogue();
    this.#turnTo('');
    if (process.env.TEST_REPORT) writeFileSync(process.env.TEST_REPORT, JSON.stringify(this.#report));
    const { passes, failures, pending } = this.stats;
    console.log(`${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}`);
  }
};
