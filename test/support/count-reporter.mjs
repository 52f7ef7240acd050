// Prints the counts of a run on a line of their own at its end, for people and scripts.
export default class CountReporter {
  onRunComplete(_contexts, results) {
    const skipped = results.numPendingTests + results.numTodoTests;
    const broken = results.numRuntimeErrorTestSuites;
    console.log(`${results.numPassedTests} passed, ${results.numFailedTests + broken} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  }
}
