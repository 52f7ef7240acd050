// After the last spec: stops and removes everything of this run.
export default async function tearDown() {
  await globalThis.rhythmTestRun.close();
}
