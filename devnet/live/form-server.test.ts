import { keccak256 } from 'viem';
import { afterEach, expect, test } from 'vitest';
import { type FormServer, type FormServerOptions, startFormServer } from './form-server.ts';
import { MessageReader, requestForm } from './live-forms.fixture.ts';
import { PendingUpdates } from './pending-updates.ts';

const KEYS: FormServerOptions = { builderKey: 'key of the builder', relayerKey: 'key of the relayer' };

let server: FormServer;

const start = async (options: FormServerOptions): Promise<PendingUpdates> => {
  const pending = new PendingUpdates({ number: 9n, timeSecs: 1_606_824_035n, slot: 1n });
  server = await startFormServer(pending, { frameMs: 10, ...options });
  return pending;
};

afterEach(() => server.stop());

test('without updates, frames name no venue', async () => {
  await start({});
  const reader = await MessageReader.open(server.builderStreamUrl);
  expect(await reader.next()).toMatch(/^\{"slot":1,"blockNumber":9,"timestamp":\d{19}\}$/);
  expect(await requestForm(server.relayerRpcUrl, 'pamm_getPammStateOverrides')).toEqual({
    blockNumber: 9,
    millisTimestamp: expect.any(Number),
    overrides: {},
    venues: [],
  });
});

test('keys are required over HTTP', async () => {
  await start(KEYS);
  const builder = 'titan_getPammStateOverrides';
  expect(await requestForm(server.builderRpcUrl, builder)).toBe('invalid API key');
  const authorization = { authorization: 'key of the builder' };
  expect(await requestForm(server.builderRpcUrl, builder, authorization)).toMatchObject({ blockNumber: 9 });
  expect(await requestForm(server.relayerRpcUrl, 'pamm_status', { 'x-api-key': 'other' })).toBe('invalid API key');
  const key = { 'x-api-key': 'key of the relayer' };
  expect(await requestForm(server.relayerRpcUrl, 'pamm_status', key)).toMatchObject({ targetBlock: 9 });
});

test('keys are required for WebSockets', async () => {
  await start(KEYS);
  await expect(MessageReader.open(server.builderStreamUrl)).rejects.toThrow('401');
  await expect(MessageReader.open(server.relayerStreamUrl, { 'x-api-key': 'other' })).rejects.toThrow('401');
  await MessageReader.open(server.builderStreamUrl, { authorization: 'key of the builder' });
  await MessageReader.open(server.relayerStreamUrl, { 'x-api-key': 'key of the relayer' });
  expect(server.connections()).toBe(2);
});

test('other paths, methods and parameters are refused', async () => {
  await start({});
  await expect(MessageReader.open(`${server.builderStreamUrl}/other`)).rejects.toThrow('404');
  expect(await requestForm(server.builderRpcUrl, 'pamm_status')).toBe('the method does not exist');
  const reader = await MessageReader.open(server.relayerStreamUrl);
  reader.send({ jsonrpc: '2.0', id: 1, method: 'pamm_subscribe', params: ['subscribeOther', {}] });
  expect(await reader.next()).toContain('invalid params');
});

test('what is sent as a transaction is taken once, and what is none is refused', async () => {
  const pending = await start({});
  const send = async (params: readonly unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransaction', params });
    return (await fetch(server.builderRpcUrl, { method: 'POST', body })).json();
  };
  expect(await send(['0x02ab'])).toMatchObject({ result: keccak256('0x02ab') });
  for (const params of [[], [1], ['02ab']]) expect(await send(params)).toMatchObject({ error: { code: -32_602 } });
  expect([pending.takeSwaps(), pending.takeSwaps()]).toEqual([['0x02ab'], []]);
});
