import { once } from 'node:events';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { execa } from 'execa';
import { publint } from 'publint';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { startedBrowser, visit } from '../explorer/browser.ts';
import { startExplorerWorld } from '../explorer/world.ts';
import { openWorld, startedWorld } from '../harness/open-world.ts';
import { CHAIN_A } from '../metadata/listing-fixture.ts';
import { installClient, linkPackages, readmePrograms } from './install.ts';

/** After minifying and gzip, with everything that the subpath uses. */
const MAX_BYTES = { math: 4_000, rest: 4_000, simulate: 1_500, stream: 6_000 };

const world = startedWorld(startExplorerWorld);
/** npm masks UUIDs in paths, which names of other temporary folders have. */
const folder = openWorld(async (ends) => {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'client-package-')));
  ends.defer(() => rm(path, { recursive: true }));
  return { path };
});
const client = openWorld(() => installClient(folder.path));
const chromium = startedBrowser();

test('the tarball has what a package needs, and installs nothing besides', async () => {
  const { messages } = await publint({ pkgDir: join(folder.path, 'source'), strict: true });
  expect(messages).toEqual([]);
  const { stdout } = await execa('npm', ['ls', '--all', '--parseable'], { cwd: client.folder });
  expect(stdout.split('\n')).toEqual([client.folder, join(client.folder, 'node_modules/pool-trading-data-client')]);
  const { license } = JSON.parse(await readFile(join(PROJECT_ROOT, 'package.json'), 'utf8'));
  const packed = JSON.parse(
    await readFile(join(client.folder, 'node_modules/pool-trading-data-client/package.json'), 'utf8'),
  );
  expect([packed.license, packed.sideEffects, packed.dependencies]).toEqual([license, false, undefined]);
});

test.each(Object.entries(MAX_BYTES))('/%s has at most %i bytes', async (name, max) => {
  const { outputFiles } = await build({
    stdin: { contents: `export * from 'pool-trading-data-client/${name}';`, resolveDir: client.folder },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
  });
  expect(gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length).toBeLessThanOrEqual(max);
});

test('the first program of the README has 15 lines, prints live prices of three pools, and stops cleanly', async () => {
  const [text = ''] = await readmePrograms(world.url);
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(15);
  const program = execa('node', [await client.write('live.mjs', text)], { reject: false });
  let output = '';
  program.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  const pairs = () => output.split('\n').filter((line) => /^\d+ \S+\/\S+ \d[\d.]* \d[\d.]*$/.test(line));
  await expect.poll(() => pairs().length).toBeGreaterThanOrEqual(3);
  await world.movePrice(3_050);
  await expect.poll(() => output).toMatch(/ 30[45]\d[.]/);
  program.kill('SIGINT');
  const { exitCode, stderr } = await program;
  expect([exitCode, stderr]).toEqual([0, '']);
});

test('the first quote of the README has ten lines', async () => {
  const [, text = ''] = await readmePrograms(world.url);
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
  const { stdout } = await execa('node', [await client.write('quote.mjs', text)]);
  expect(stdout).toMatch(/^[1-9]\d+ raw units of token1 buy [1-9]\d+ of token0$/);
});

const TYPED = `import { type ExactInQuote, InsufficientDepthError, quoteExactIn } from 'pool-trading-data-client/math';
import { createRestClient, ResponseError } from 'pool-trading-data-client/rest';
import { type SimulatedSwap, simulateExactIn } from 'pool-trading-data-client/simulate';
import { type StreamState, stream } from 'pool-trading-data-client/stream';
export async function neverCalled(): Promise<ExactInQuote> {
  const client = createRestClient('http://localhost', { apiKey: 'x' });
  const { data } = await client.listPools({ chainId: 1, contractVersion: 'v1' });
  data[0]?.priceProviderCooldownSecs satisfies number | bigint | undefined;
  for await (const pool of client.allPools({ chainIds: '1,2' })) pool.poolAddress satisfies string;
  for await (const state of stream({ url: 'x', chainId: 1, pools: [] })) state satisfies StreamState;
  // @ts-expect-error a pool needs its address
  client.getBidAsk({ chainId: 1 });
  // @ts-expect-error amounts of a walk are bigints
  quoteExactIn([], 1);
  const quote = await client.getBidAsk({ chainId: 1, poolAddress: '0x', include: 'stateOverride' });
  (await simulateExactIn({ request: async () => '0x' }, { quote, side: 'bids' }, 1n)) satisfies SimulatedSwap;
  const { depth } = await client.getBidAsk({ chainId: 1, poolAddress: '0x' }, { signal: AbortSignal.abort() });
  return quoteExactIn(depth?.bids ?? [], 1n);
}
try {
  quoteExactIn([{ cumulativeInputVolume: '10', cumulativeVolume: '9' }], 11n);
} catch (error) {
  console.log(error instanceof InsufficientDepthError && error.max, ResponseError.name);
}
`;

test.each([
  ['bundlers', ts.ModuleResolutionKind.Bundler, ts.ModuleKind.ESNext],
  ['Node', ts.ModuleResolutionKind.NodeNext, ts.ModuleKind.NodeNext],
] as const)(
  'a TypeScript program has its types where %s look for them, and runs',
  async (_, moduleResolution, module) => {
    const options = {
      strict: true,
      skipDefaultLibCheck: true,
      target: ts.ScriptTarget.ES2022,
      moduleResolution,
      module,
    };
    const program = ts.createProgram([await client.write('typed.ts', TYPED)], { ...options, types: [] });
    const messages = ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText);
    expect(messages).toEqual([]);
    program.emit();
    const { stdout } = await execa('node', ['typed.js'], { cwd: client.folder });
    expect(stdout).toBe('10n ResponseError');
  },
);

test('programs of the README and examples are valid in strict TypeScript', async () => {
  await linkPackages(client.folder, ['@types']);
  const texts = [...(await readmePrograms(world.url))];
  for (const name of ['best-price', 'market-maker', 'watcher'])
    texts.push(await readFile(join(PROJECT_ROOT, 'client/examples', `${name}.ts`), 'utf8'));
  const paths = await Promise.all(texts.map((text, index) => client.write(`strict-${index}.ts`, text)));
  const program = ts.createProgram(paths, {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    module: ts.ModuleKind.NodeNext,
    typeRoots: [join(client.folder, 'node_modules/@types')],
    types: ['node'],
  });
  expect(ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText)).toEqual([]);
});

/** As text: functions of this file use helpers that a page does not have. */
const IN_BROWSER = `async ({ url, ...pool }) => {
  const [math, { createRestClient }, { stream }] = await Promise.all(
    ['/dist/math.js', '/dist/rest.js', '/dist/stream.js'].map((path) => import(path)),
  );
  const client = createRestClient(url);
  const { depth } = await client.getBidAsk(pool);
  const { name, requestId } = await client.getBidAsk({ ...pool, poolAddress: 'x' }).catch((error) => error);
  for await (const { block, quotes, transport } of stream({ ...pool, url, pools: [pool.poolAddress] })) {
    if (!block || quotes.size === 0) continue;
    const most = String(math.maxOut(depth.bids));
    return { transport, pools: [...quotes.keys()], most, failure: [name, typeof requestId] };
  }
}`;

test('in a browser of another origin it calculates, calls and streams over a WebSocket', async () => {
  const files = createServer(async (request, response) => {
    const path = join(client.folder, 'node_modules/pool-trading-data-client', request.url ?? '');
    const type = { '.js': 'text/javascript' }[extname(path)] ?? 'text/html';
    response.setHeader('Content-Type', type);
    response.end(type === 'text/html' ? '<!doctype html><link rel=icon href=data:,>' : await readFile(path));
  }).listen(0, '127.0.0.1');
  await once(files, 'listening');
  const origin = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
  const { page, errors, close } = await visit(chromium.browser, origin);
  await page.goto('/');
  const [pool] = world.pools;
  const options = JSON.stringify({ url: world.url, chainId: CHAIN_A, poolAddress: pool.address });
  const result = await page.evaluate(`(${IN_BROWSER})(${options})`);
  expect(result).toEqual({
    transport: 'websocket',
    pools: [pool.address],
    most: expect.stringMatching(/^[1-9]\d+$/),
    failure: ['BadRequestError', 'string'],
  });
  expect(errors.filter((error) => !error.includes('400'))).toEqual([]);
  await close();
  files.close();
});
