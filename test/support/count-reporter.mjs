// Closes a run with its counts alone on a line, for people in a hurry and for scripts.
export default class CountReporter {
  onRunComplete(_contexts, results) {
    const skipped = results.numPendingTests + results.numTodoTests;
    const broken = results.numRuntimeErrorTestSuites;
    console.log(`${results.numPassedTests} passed, ${results.numFailedTests + broken} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  }
}
