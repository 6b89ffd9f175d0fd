import { Hono } from 'hono';
import { vi } from 'vitest';
import { z } from 'zod';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { quotesResource } from '../../api/quotes/quotes.ts';
import { mountHandlers } from '../harness/mount-handlers.ts';
import type { StreamChain } from '../many-pools/stream-chain.ts';
import { chainConfig } from '../quotes/quote-world.ts';
import { quotedChains } from '../quotes/quoted-chains.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';

const Quote = z.looseObject({ poolAddress: z.string() });
const Batch = z.object({ results: z.array(z.object({ poolAddress: z.string(), quote: Quote })) });

/** A head of the chain. */
interface Block {
  readonly number: number;
  readonly hash: string;
}

const LOOK = { interval: 10 };

/** A quote but for what differs between two services that read the same block. */
export function comparable(quote: object, depth: boolean): string {
  const { serverTs: _serverTs, pair: _pair, ...rest } = quote as Partial<z.output<typeof Quote>>;
  return JSON.stringify({ ...rest, ...(!depth && { depth: null }) });
}

/** What REST says at each block, by a service of its own that nothing disturbs. */
export class Truth {
  readonly #app = new Hono();
  readonly #chain: StreamChain;
  /** By hash. */
  readonly #blocks = new Map<string, ReadonlyMap<string, { readonly plain: string; readonly withDepth: string }>>();
  #height = 0;
  readonly #minedAt = new Map<number, number>();

  constructor(chain: StreamChain) {
    this.#chain = chain;
    const config = chainConfig(chain.chainId, [chain.world.anvil.url]);
    const served = chain.groups.flatMap(({ served }, group) =>
      (chain.pools[group] ?? []).map((address) => ({ ...served, address })),
    );
    const directory = fixedDirectory(served);
    const deps = { chains: quotedChains([config], directory), directory };
    mountHandlers(this.#app, bindRoutes(quotesResource, deps));
  }

  /** The newest block that was recorded. */
  get height(): number {
    return this.#height;
  }

  /** When a block of this height was last known to be mined, by `performance.now()`; undefined before. */
  minedAt(number: number): number | undefined {
    return this.#minedAt.get(number);
  }

  /** Asks for all quotes until they are of this block, which must be the head. */
  async record({ number, hash }: Block): Promise<void> {
    this.#minedAt.set(number, performance.now());
    const { chainId, pools } = this.#chain;
    const path = `/public/v1/evm/${chainId}/bid_ask/batch`;
    const request = { method: 'POST', body: JSON.stringify({ pools: pools.flat() }) };
    // A service keeps the head that it knows while it polls for the next.
    const response = await vi.waitUntil(async () => {
      const answer = await this.#app.request(path, request);
      return answer.headers.get('X-Block-Hash') === hash && answer;
    }, LOOK);
    const { results } = Batch.parse(await response.json());
    this.#height = number;
    this.#blocks.set(
      hash,
      new Map(
        results.map(({ quote }) => [
          quote.poolAddress,
          { plain: comparable(quote, false), withDepth: comparable(quote, true) },
        ]),
      ),
    );
  }

  /** Undefined when the block was not recorded. */
  quote(hash: string, pool: string, depth: boolean): string | undefined {
    return this.#blocks.get(hash)?.get(pool)?.[depth ? 'withDepth' : 'plain'];
  }
}
