import { setTimeout as sleep } from 'node:timers/promises';
import { type LiveMarket, priceAround } from '../../devnet/live/live-market.fixture.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';

const lastPrices = new Map<LivePool, bigint>();

/** Another price than the pool's last one. */
export function otherPrice(pool: LivePool) {
  const last = lastPrices.get(pool) ?? 190n;
  const next = last >= 210n ? 190n : last + 1n;
  lastPrices.set(pool, next);
  return priceAround(next);
}

/** Gives pools new prices for the block that is being built, all in one frame. */
export async function update({ builder }: LiveMarket, pools: readonly LivePool[]): Promise<void> {
  const updates = await Promise.all(pools.map((pool) => pool.maker.sign(builder.block(), otherPrice(pool))));
  for (const each of updates) builder.submit(each);
}

/** Changes and blocks one after the other while the work is done: an update is for the block that is being built. */
export async function whileChanging<T>(
  market: LiveMarket,
  pools: readonly LivePool[],
  { everyMs, perBlock }: { readonly everyMs: number; readonly perBlock: number },
  work: () => Promise<T>,
): Promise<T> {
  let isOver = false;
  const play = async () => {
    for (let changes = 1; !isOver; changes += 1) {
      const next = sleep(everyMs);
      await update(market, pools);
      if (changes % perBlock === 0) await market.builder.buildBlock();
      await next;
    }
  };
  const played = play();
  try {
    return await work();
  } finally {
    isOver = true;
    await played;
  }
}
