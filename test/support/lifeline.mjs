// Preloaded into every process a spec starts: when the spec's process dies, so does this one.
process.stdin.on('error', () => process.exit(1));
process.stdin.on('close', () => process.exit(1));
process.stdin.resume();
process.stdin.unref?.();
