import { setTimeout as sleep } from 'node:timers/promises';

const SOON_MS = 100;

/** Makes what asks all nodes for their heads a moment later, once for all that call it meanwhile. It never rejects. */
export function pollSoon<H>(
  source: { heads(): Promise<readonly H[]> },
  take: (heads: readonly H[]) => void,
): () => Promise<void> {
  let look: Promise<void> | undefined;
  const start = async () => {
    await sleep(SOON_MS);
    const heads = await source.heads().catch(() => []);
    look = undefined;
    take(heads);
  };
  return () => {
    look ??= start();
    return look;
  };
}
