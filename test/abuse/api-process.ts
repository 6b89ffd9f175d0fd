import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** What was let go of goes back to the system in the background: the least of some looks is what is held. */
const LOOKS = 5;
const BETWEEN_MS = 150;

/** The API process as it is, which on SIGUSR2 collects its garbage and prints what memory it holds then. */
process.on('SIGUSR2', async () => {
  const least = { heapUsed: Number.POSITIVE_INFINITY, rss: Number.POSITIVE_INFINITY };
  for (let look = 0; look < LOOKS; look++) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS));
    const { heapUsed, rss } = process.memoryUsage();
    least.heapUsed = Math.min(least.heapUsed, heapUsed);
    least.rss = Math.min(least.rss, rss);
  }
  process.stdout.write(`memory ${JSON.stringify(least)}\n`);
});

await import('../../api/main.ts');
