import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** The API process as it is, which on SIGUSR2 collects its garbage and prints what memory it holds then. */
process.on('SIGUSR2', () => {
  collectGarbage();
  // Finalizers of the first pass let go of more.
  setTimeout(() => {
    collectGarbage();
    const { heapUsed, rss } = process.memoryUsage();
    process.stdout.write(`memory ${JSON.stringify({ heapUsed, rss })}\n`);
  }, 100);
});

await import('../../api/main.ts');
