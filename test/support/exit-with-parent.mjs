// Preloaded into every process that a spec starts: ends it when the process of the spec ends.
process.stdin.on('error', () => process.exit(1));
process.stdin.on('close', () => process.exit(1));
process.stdin.resume();
process.stdin.unref?.();
