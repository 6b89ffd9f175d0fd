import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { loadChainsFile } from '../../config/load-chains.ts';
import { startLiveMarket } from '../../devnet/live/live-market.fixture.ts';
import { startPartNode } from '../../devnet/parts/part-node.ts';
import { ownMain } from '../../local/services/own-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';

test('a live source is offered over a node that follows parts, and written when it is wanted', {
  timeout: 120_000,
}, async () => {
  const market = await startLiveMarket({ flatPools: 1, packedPools: 0 });
  onTestFinished(() => market.close());
  const node = await startPartNode(market.chain);
  onTestFinished(node.stop);
  const folder = await createTempFolder('chain-add-parts');
  onTestFinished(() => folder.remove());
  const path = join(folder.path, 'chains.json');
  const { multicall3, poolFactory } = market.deployment;
  const { chainId } = market.chain;
  const entry = { chainId, name: 'devnet', rpcUrls: ['env:PARTS'], wsUrls: ['env:PARTS_WS'], blockTimeMs: 2_000 };
  await writeFile(path, JSON.stringify({ chains: [{ ...entry, multicall3, deployments: [] }] }));
  const env = { PARTS: node.url, PARTS_WS: node.wsUrl };
  const chain = ['--file', path, '--chain', String(chainId), '--factory', poolFactory, '--json'];
  const add = async (...parameters: string[]) => {
    const args = [...ownMain('chain'), 'add', ...chain, ...parameters];
    return JSON.parse((await execa(process.execPath, args, { env, stdin: 'ignore' })).stdout);
  };
  const stop = node.run();
  onTestFinished(stop);

  const offered = await add();
  expect(offered.node).toMatchObject({ parts: true });
  expect(offered.findings).toContainEqual(
    expect.objectContaining({ level: 'note', problem: expect.stringContaining('a live source') }),
  );
  expect(await readFile(path, 'utf8')).not.toContain('"live"');

  const taken = await add('--parts');
  expect(taken.written).toEqual([`${chainId}.live`]);
  const sources = [{ kind: 'preconfirmed', rpcUrls: ['env:PARTS'], wsUrls: ['env:PARTS_WS'] }];
  expect(JSON.parse(await readFile(path, 'utf8')).chains[0].live).toEqual({ sources });
  const [loaded] = loadChainsFile(path, env).chains;
  expect(loaded?.live?.sources).toMatchObject([{ rpcUrls: [node.url], wsUrls: [node.wsUrl] }]);
  // The source is checked, and is as it says.
  expect(JSON.stringify(taken.findings)).not.toContain('parts of blocks');
});
