import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { startedWorld } from '../harness/open-world.ts';
import { startLiveStream, startLiveWorld, updateAll } from '../live/live-world.ts';
import {
  DECODERS,
  type DecodedOverrides,
  decodeBap710Overrides,
  decodeBuilderAnswer,
  decodeBuilderOverrides,
} from '../takers/decoders.ts';
import { call } from '../takers/rpc-client.ts';
import { IS_LONG, SOAK_SEED } from './settings.ts';

/*
 * Decoders that know the published forms alone read many frames of each form over each path of takers, while prices
 * change and blocks land.
 */

/** Of each form and path. */
const FRAMES = IS_LONG ? 10_000 : 1_000;
/** Clients of a path at once. */
const READERS = IS_LONG ? 200 : 50;
/** Milliseconds between two prices, and how many a block has. */
const PRICE_MS = 50;
const PRICES_PER_BLOCK = 20;

const world = startedWorld(() => startLiveWorld({ flatPools: 2, packedPools: 0, guards: ['none'] }));
const api = startedWorld(() => {
  const { live } = world.config;
  const sources = live?.sources.map((source) => ({ ...source, republish: true })) ?? [];
  const stream = { connections: 10 * READERS, connectionsPerAddress: 10 * READERS };
  return startLiveStream(world, { chain: { ...world.config, live: { ...live, sources } }, stream });
});
const rpcPath = () => `/rpc/${world.config.chainId}`;
const pathOf = (of: string) => `${new URL(api.base).pathname}/${of}`;
const named = () => world.market.pools.map(({ address }) => address);

/** @returns the block that a frame is of, and how many pairs or venues it has */
type Decode = (text: string) => readonly [blockNumber: bigint, count: number];
const levels =
  (form: keyof typeof DECODERS): Decode =>
  (text) => {
    const { blockNumber, pairs } = DECODERS[form](text);
    return [blockNumber, pairs.length];
  };
const words =
  (decode: (text: string) => DecodedOverrides): Decode =>
  (text) => {
    const { blockNumber, venues } = decode(text);
    return [blockNumber, venues.size];
  };
const FORMS = {
  builder: { levels: levels('builder'), words: words(decodeBuilderOverrides), answer: words(decodeBuilderAnswer) },
  bap710: { levels: levels('bap710'), words: words(decodeBap710Overrides) },
};

/** What one client reads: no frame is of an older block than those before, nor of a block that is not begun. */
function reader(decode: Decode) {
  let highest = 0n;
  return (text: string): number => {
    const [blockNumber, count] = decode(text);
    if (blockNumber < highest) expect.fail(`block ${blockNumber} comes after ${highest}`);
    // While a block is built the node has it already.
    if (blockNumber > world.market.builder.block().number + 1n) expect.fail(`block ${blockNumber} is not begun`);
    highest = blockNumber;
    return count;
  };
}

/** Changes prices, and lands blocks, until something is done. */
async function during<T>(work: Promise<T>): Promise<T> {
  const random = seededRandom(SOAK_SEED);
  let isOver = false;
  const play = async () => {
    for (let turn = 1; !isOver; turn += 1) {
      if (turn % PRICES_PER_BLOCK === 0) await world.market.builder.buildBlock();
      await updateAll(world.market, () => BigInt(random.integer(190, 210)));
      await sleep(PRICE_MS);
    }
  };
  const end = () => {
    isOver = true;
  };
  const [result] = await Promise.all([work.finally(end), play()]);
  return result;
}

const levelsCall = (method: string) => call(method, [{ pamms: named(), levels: 3 }]);
const REQUESTS: readonly (readonly [what: string, body: () => object | string, decode: Decode])[] = [
  ['GET, builder', () => `price_levels?levels=3&pools=${named()}`, FORMS.builder.levels],
  ['GET, bap710', () => `price_levels?levels=3&pools=${named()}&format=bap710`, FORMS.bap710.levels],
  ['GET of all pools', () => 'price_levels', FORMS.builder.levels],
  ['titan_getPammPriceLevels', () => levelsCall('titan_getPammPriceLevels'), FORMS.builder.levels],
  ['pamm_getPammPriceLevels', () => levelsCall('pamm_getPammPriceLevels'), FORMS.bap710.levels],
  ['titan_getPammStateOverrides', () => call('titan_getPammStateOverrides'), FORMS.builder.answer],
  ['pamm_getPammStateOverrides', () => call('pamm_getPammStateOverrides'), FORMS.bap710.words],
];

test.each(REQUESTS)(`${FRAMES} frames of %s`, { timeout: 600_000 }, async (_what, bodyOf, decode) => {
  const body = bodyOf();
  const request =
    typeof body === 'string'
      ? ({ method: 'GET', path: pathOf(body) } as const)
      : ({ method: 'POST', path: rpcPath(), body: JSON.stringify(body) } as const);
  const client = new Pool(new URL(api.base).origin, { connections: READERS });
  let left = FRAMES;
  const ask = async () => {
    const read = reader(decode);
    while (left > 0) {
      const text = await (await client.request(request)).body.text();
      // Some are of the moment before the first price of a block.
      if (read(/^\{"jsonrpc":"2.0","id":1,"result":(.*)\}$/s.exec(text)?.[1] ?? text) > 0) left -= 1;
    }
  };
  await during(Promise.all(Array.from({ length: READERS }, ask)));
  await client.close();
});

const STREAMS: readonly (readonly [path: () => string, kind: string | null, decode: Decode])[] = [
  [() => pathOf(`price_levels?levels=3&pools=${named()}`), null, FORMS.builder.levels],
  [() => pathOf(`price_levels?levels=3&pools=${named()}&format=bap710`), null, FORMS.bap710.levels],
  [() => pathOf('ws/pamm_price_levels'), null, FORMS.builder.levels],
  [() => pathOf('ws/pamm_quote_stream'), null, FORMS.builder.words],
  [rpcPath, 'subscribePriceLevelsV1', FORMS.bap710.levels],
  [rpcPath, 'subscribeNewQuotesV1', FORMS.bap710.words],
];

/** Reads some frames with prices of a socket. */
async function readSocket(path: string, kind: string | null, decode: Decode): Promise<void> {
  const socket = new WebSocket(new URL(path, api.base.replace('http', 'ws')));
  if (kind) socket.on('open', () => socket.send(JSON.stringify(call('pamm_subscribe', [kind, {}]))));
  const read = reader(decode);
  let left = FRAMES / READERS;
  try {
    await new Promise<void>((resolve, reject) => {
      socket.on('close', (code, reason) => reject(new Error(`${path} closed: ${code} ${reason}`)));
      socket.on('message', (data) => {
        const text = String(data);
        const frame = kind ? /^\{"jsonrpc":"2.0","method":.+?"result":(\{.*\})\}\}$/s.exec(text)?.[1] : text;
        if (frame === undefined) return;
        try {
          if (read(frame) > 0) left -= 1;
        } catch (error) {
          reject(error);
        }
        if (left === 0) resolve();
      });
    });
  } finally {
    socket.terminate();
  }
}

test(`${FRAMES} frames of each WebSocket and subscription`, { timeout: 600_000 }, async () => {
  const sockets = STREAMS.flatMap(([path, kind, decode]) =>
    Array.from({ length: READERS }, () => readSocket(path(), kind, decode)),
  );
  await during(Promise.all(sockets));
});
