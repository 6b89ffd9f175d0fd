import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parseChainsFile } from './load-chains.ts';

const env = {
  RPC_URL_8453: 'https://node.example',
  PARTS_URL_8453: 'https://parts.example',
  PARTS_WS_URL_8453: 'wss://parts.example',
};

const read = async (name: string) => JSON.parse(await readFile(new URL(name, import.meta.url), 'utf8'));

test('the file of Base with parts is as that of all chains has it, and reads nodes that follow parts', async () => {
  const [file, all] = [await read('base-parts.json'), await read('mainnet.json')];
  const [{ live, ...base }] = file.chains;
  expect(base).toEqual(all.chains.find(({ chainId }: { chainId: number }) => chainId === 8453));
  expect({ ...file, chains: [] }).toEqual({ ...all, chains: [] });
  const [parsed] = parseChainsFile(file, 'base-parts.json', env).chains;
  expect(parsed?.live?.sources).toEqual([
    { kind: 'preconfirmed', rpcUrls: [env.PARTS_URL_8453], wsUrls: [env.PARTS_WS_URL_8453], maxAgeMs: 600 },
  ]);
});

test.each(Object.keys(env))('it does not load without %s', async (name) => {
  const file = await read('base-parts.json');
  expect(() => parseChainsFile(file, 'base-parts.json', { ...env, [name]: undefined })).toThrow(`${name} is not set`);
});
