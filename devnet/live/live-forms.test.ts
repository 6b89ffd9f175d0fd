import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parseJson } from '../../runtime/json.ts';
import { decodeBuilderFrame, decodeSnapshot, MessageReader, mergedWords, requestForm } from './live-forms.fixture.ts';
import { type LiveMarket, priceAround, startLiveMarket } from './live-market.fixture.ts';

let market: LiveMarket;

beforeAll(async () => {
  market = await startLiveMarket({ flatPools: 2, packedPools: 2 });
});

afterAll(() => market.close());

describe('the two forms', () => {
  const readers: MessageReader[] = [];
  const open = async (...args: Parameters<typeof MessageReader.open>): Promise<MessageReader> => {
    const reader = await MessageReader.open(...args);
    readers.push(reader);
    return reader;
  };
  const subscribed = async (routers: readonly string[] = []): Promise<MessageReader> => {
    const reader = await open(market.builder.relayerStreamUrl);
    reader.send({ jsonrpc: '2.0', id: 7, method: 'pamm_subscribe', params: ['subscribeNewQuotesV1', { routers }] });
    expect(parseJson(await reader.next())).toMatchObject({ id: 7, result: expect.stringMatching(/^0x[0-9a-f]{32}$/) });
    return reader;
  };
  const notified = async (reader: MessageReader) => {
    const message = parseJson(await reader.next()) as { method: string; params: { result: unknown } };
    expect(message.method).toBe('pamm_subscription');
    return decodeSnapshot(message.params.result);
  };

  afterEach(() => {
    for (const reader of readers.splice(0)) reader.close();
  });

  test('carry the same words, over WebSocket and over HTTP', async () => {
    for (const pool of market.pools) await market.update(pool, priceAround(200n));
    const { builder } = market;
    const builderText = await (await open(builder.builderStreamUrl)).next();
    expect(builderText).toMatch(/"timestamp":\d{19}[,}]/);
    const frame = decodeBuilderFrame(parseJson(builderText));
    const snapshot = await notified(await subscribed());
    expect([...frame.venues.keys()]).toEqual([market.deployment.swapRouter, market.packed.swapRouter]);
    expect(snapshot.venues).toEqual(frame.venues);
    expect(snapshot.overrides).toEqual(mergedWords(frame));
    expect(Object.keys(snapshot.overrides)).toEqual([market.registry]);
    expect(Object.keys(snapshot.overrides[market.registry] ?? {})).toHaveLength(2 * market.pools.length);
    expect(snapshot.blockNumber).toBe(frame.blockNumber);
    const requested = await requestForm(builder.relayerRpcUrl, 'pamm_getPammStateOverrides');
    expect(decodeSnapshot(requested)).toEqual(snapshot);
    expect(decodeBuilderFrame(await requestForm(builder.builderRpcUrl, 'titan_getPammStateOverrides')).venues).toEqual(
      frame.venues,
    );
    expect(await requestForm(builder.relayerRpcUrl, 'pamm_status')).toEqual({
      ready: true,
      targetBlock: Number(builder.block().number),
      liveQuotes: market.pools.length,
      builders: 1,
      maxQuoteAgeMs: 400,
    });
  });

  test('of a subscription name the routers alone that it chose', async () => {
    for (const pool of market.pools) await market.update(pool, priceAround(200n));
    const { venues } = await notified(await subscribed([market.packed.swapRouter]));
    expect([...venues.keys()]).toEqual([market.packed.swapRouter]);
  });

  test('fall silent, say anything, and end', async () => {
    const { builder } = market;
    const both = [await open(builder.builderStreamUrl), await subscribed()];
    builder.pause();
    builder.sendRaw('the last');
    await expect.poll(() => both.map(({ last }) => last)).toEqual(['the last', 'the last']);
    const counts = both.map(({ count }) => count);
    // biome-ignore lint/plugin: three frames would come in this time, none may.
    await sleep(300);
    expect(both.map(({ count }) => count)).toEqual(counts);
    const texts = both.map((reader) => reader.next());
    builder.sendRaw('no JSON');
    expect(await Promise.all(texts)).toEqual(['no JSON', 'no JSON']);
    builder.resume();
    await Promise.all(both.map((reader) => reader.next()));
    expect(builder.connections()).toBe(2);
    builder.breakConnections();
    await expect.poll(() => builder.connections()).toBe(0);
  });
});
