import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Quote } from '../../api/quotes/quote-schema.ts';
import { SimulatedChain } from './simulated-chain.ts';
import { SimulatedClient } from './simulated-client.ts';

const POOLS = 6;
const RICH = { callsPerMinute: 100_000 };
const POOR = { callsPerMinute: 60 };

const some = fc.uniqueArray(fc.integer({ min: 0, max: POOLS - 1 }), { maxLength: POOLS });
const pool = fc.integer({ min: 0, max: POOLS - 1 });
const client = fc.integer({ min: 0, max: 4 });

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ op: fc.constant('mine' as const), changed: some }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: 4 }),
      others: fc.integer({ min: 1, max: 4 }),
      changed: some,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constantFrom('connect' as const, 'connect' as const, 'cut' as const, 'slow' as const, 'drain' as const),
      client,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constantFrom('fail' as const, 'heal' as const, 'remove' as const, 'list' as const),
      pool,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constantFrom('down' as const, 'up' as const, 'restart' as const, 'pause' as const, 'tick' as const),
    }),
  },
);
const steps = fc.array(fc.tuple(step, fc.integer({ min: 0, max: 12 })), { minLength: 10, maxLength: 60 });
const wish = fc.record({
  pools: fc.oneof(some, fc.constant('all' as const)),
  depth: fc.boolean(),
  hasKey: fc.boolean(),
});

const settle = async (turns: number) => {
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Fails unless a client that says of which block its quotes are holds what the chain says of that block. */
function check(chain: SimulatedChain, { book, hash, fault, wish: { depth, pools } }: SimulatedClient): void {
  if (fault) throw fault;
  if (hash === null) return;
  const named = book.isWhole && pools !== 'all' ? pools : [];
  const isKnown = (name: string) => book.quotes.has(name) || book.failed.has(name) || book.removed.has(name);
  expect(named.filter(({ address }) => !isKnown(address))).toEqual([]);
  for (const [name, { quote }] of book.quotes) {
    const { bidAdj, depth: shown } = Quote.parse(quote);
    const price = chain.priceAt(hash, name);
    expect([name, bidAdj, shown?.bids[0]?.price]).toEqual([name, price, depth ? price : undefined]);
  }
}

test('property: over blocks, reorganisations, cuts and failures a client holds what REST says of its block, or knows that it does not', async () => {
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.array(wish, { minLength: 5, maxLength: 5 }),
      fc.boolean(),
      async (list, wishes, isPoor) => {
        const chain = new SimulatedChain(POOLS);
        const budget = isPoor ? POOR : RICH;
        let epoch = 0;
        let process = chain.startProcess(`e${epoch}`, budget);
        const isServed = ({ chainId, address }: (typeof chain.pools)[number]) =>
          chain.table.find(chainId, address) !== undefined;
        const clients = wishes.map(
          ({ pools, ...rest }) =>
            new SimulatedClient({
              ...rest,
              pools: pools === 'all' ? pools : chain.pools.filter((_, index) => pools.includes(index)),
            }),
        );
        const connect = async (target: SimulatedClient) => {
          if (!target.isOpen) await target.connect(process.hub, isServed).catch(() => undefined);
        };
        const restart = async () => {
          for (const each of clients) each.cut();
          epoch += 1;
          process = chain.startProcess(`e${epoch}`, budget);
          for (const each of clients) await connect(each);
        };
        for (const each of clients) await connect(each);
        for (const [action, turns] of list) {
          const target = 'client' in action ? (clients[action.client] as SimulatedClient) : null;
          const served = 'pool' in action ? (chain.pools[action.pool] as (typeof chain.pools)[number]) : null;
          if (action.op === 'mine') chain.mine(action.changed);
          if (action.op === 'reorg') chain.reorganise(action.depth, action.others, action.changed);
          if ((action.op === 'mine' || action.op === 'reorg') && !chain.isDown) process.clock.push(chain.head);
          if (action.op === 'connect' && target) await connect(target);
          if (action.op === 'cut') target?.cut();
          if (action.op === 'slow' && target) target.isSlow = true;
          if (action.op === 'drain') target?.drain();
          if (action.op === 'fail' && served) chain.failing.add(served.address);
          if (action.op === 'heal' && served) chain.failing.delete(served.address);
          if (action.op === 'remove' && served) chain.table.remove(served);
          if (action.op === 'list' && served && !isServed(served)) chain.table.put(served);
          if (action.op === 'down') chain.isDown = true;
          if (action.op === 'up') chain.isDown = false;
          if (action.op === 'restart') await restart();
          if (action.op === 'pause') chain.now += 20_000;
          if (action.op === 'tick') process.hub.tick();
          await settle(turns);
          for (const each of clients) check(chain, each);
        }
        // Once all is well again, everyone gets to the head.
        chain.isDown = false;
        chain.failing.clear();
        for (const each of clients) {
          each.drain();
          await connect(each);
        }
        await settle(30);
        // A node that is behind for ten seconds was rolled back.
        for (let block = 0; block < 13; block++) {
          chain.mine([0, 1]);
          process.clock.push(chain.head);
          await settle(15);
        }
        for (const each of clients) {
          check(chain, each);
          expect([each.isOpen, each.hash]).toEqual([true, chain.head.block.hash]);
          const wanted = each.wish.pools === 'all' ? chain.pools : each.wish.pools;
          for (const known of wanted.filter(isServed)) {
            const { quotes, failed, removed } = each.book;
            const name = known.address;
            // A pool that was gone for a while is subscribed to again by who subscribed to all.
            const isKnown = quotes.has(name) || failed.has(name) || (each.wish.pools !== 'all' && removed.has(name));
            expect([name, isKnown]).toEqual([name, true]);
            if (!isPoor && each.wish.hasKey) expect([name, failed.get(name)]).not.toEqual([name, 503]);
          }
        }
        for (const each of clients) each.cut();
        await process.warmer.close();
      },
    ),
    { numRuns: 150 },
  );
}, 120_000);
