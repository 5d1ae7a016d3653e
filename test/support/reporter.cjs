/** The usual list of tests, and last one plain line that any machine can read. */
const { reporters } = require('mocha');

module.exports = class extends reporters.Spec {
  epilogue() {
    super.epilogue();
    const { passes, failures, pending } = this.stats;
    console.log(`${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}`);
  }
};
