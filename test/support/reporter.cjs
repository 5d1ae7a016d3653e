/** The usual list of tests, or a dot for each with TEST_REPORTER=dot, and last one plain line that any machine can read. */
const { reporters } = require('mocha');

module.exports = class extends (process.env.TEST_REPORTER === 'dot' ? reporters.Dot : reporters.Spec) {
  epilogue() {
    super.epilogue();
    const { passes, failures, pending } = this.stats;
    console.log(`${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}`);
  }
};
