import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { execa } from 'execa';
import { createPublicClient, http, toFunctionSelector } from 'viem';
import { expect } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { type InstalledClient, installClient, linkPackages, readmePrograms } from './install.ts';

const EXAMPLES = join(PROJECT_ROOT, 'client/examples');
const CHAIN_ID = '31337';
/** `trader` of the devnet, which the node unlocks: it holds all tokens and lets the router take them. */
const TRADER = '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65';
const SWAP = toFunctionSelector('function swap(address, bool, int128, uint128)');

/** Runs the examples and the README's first program from the tarball, against a demo that printed this. */
export async function expectClientExamples(output: string, parent: string): Promise<void> {
  const printed = (pattern: RegExp) => pattern.exec(output)?.[1] ?? '';
  const url = printed(/API +(http:\S+)/);
  const rpcUrl = printed(/devnet-a +(http:\S+)/);
  const client = await installClient(parent);
  await linkPackages(client.folder, ['viem']);
  for (const name of await readdir(EXAMPLES)) {
    const { code } = await transform(await readFile(join(EXAMPLES, name), 'utf8'), { loader: 'ts', format: 'esm' });
    await client.write(name.replace('.ts', '.mjs'), code);
  }
  const run = (name: string, ...args: string[]) =>
    execa('node', [`${name}.mjs`, url, CHAIN_ID, ...args], { cwd: client.folder });
  const { tokenIn, tokenOut, amountIn } = JSON.parse(printed(/-d '(\{"tokenIn":[^']+)'/));
  const trade = [tokenIn, tokenOut, amountIn];
  const best = await run('best-price', ...trade);
  expect(best.stdout).toMatch(/^0x[0-9a-f]{40} gives [1-9]\d+, \d+\.\d+ on average$/);
  const simulated = await run('simulate-quote', rpcUrl, best.stdout.slice(0, 42));
  expect(simulated.stdout).toMatch(/^(live|committed): quoted \d+, simulated \d+$/);
  const router = await routerOf(rpcUrl);
  const { stdout } = await run('execute-route', rpcUrl, router, TRADER, ...trade);
  const [, planned = '', received = ''] = /^planned (\d+), received (\d+)$/.exec(stdout) ?? [];
  // The traffic may have moved the price meanwhile.
  expect(Number(received), stdout).toBeGreaterThan(Number(planned) * 0.9);
  const update = printed(/-d @(\S+) \S+pamm-quote/);
  const maker = await run('market-maker', printed(/API key +(\S+)/), update);
  expect(maker.stdout).toMatch(/^1 accepted.*\n2 accepted/);
  await untilPrinted(client, ['watcher.mjs', url, CHAIN_ID, best.stdout.slice(0, 42)], /trading at block \d+/);
  await expectLivePrices(client, url);
}

/** The contract that the traffic swaps through. */
async function routerOf(rpcUrl: string): Promise<string> {
  const node = createPublicClient({ transport: http(rpcUrl) });
  for (let block = await node.getBlock({ includeTransactions: true }); ; ) {
    const found = block.transactions.find(({ input }) => input.startsWith(SWAP));
    if (found?.to) return found.to;
    block = await node.getBlock({ blockNumber: block.number - 1n, includeTransactions: true });
  }
}

/** Runs a program until its output is as expected, then stops it with Ctrl-C. */
async function untilPrinted({ folder }: InstalledClient, args: readonly string[], expected: RegExp): Promise<void> {
  const program = execa('node', args, { cwd: folder, reject: false });
  let output = '';
  program.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  await expect.poll(() => output).toMatch(expected);
  program.kill('SIGINT');
  const { exitCode, stderr } = await program;
  expect([exitCode, stderr]).toEqual([0, '']);
}

async function expectLivePrices(client: InstalledClient, url: string): Promise<void> {
  const [text = ''] = await readmePrograms(url);
  await client.write('live.mjs', text);
  await untilPrinted(client, ['live.mjs'], /(\d+ \S+\/\S+ \d[\d.]* \d[\d.]*\n){3}/);
}
