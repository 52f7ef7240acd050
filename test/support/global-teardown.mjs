// After the last spec: everything of this run ends.
export default async function tearDown() {
  await globalThis.rhythmTestRun.close();
}
