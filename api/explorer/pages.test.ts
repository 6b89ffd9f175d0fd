import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiError, internalError, sendError } from '../errors.ts';
import { COMPRESS_FROM_BYTES, type ReadyBody } from '../http/ready-body.ts';
import { type PageFiles, readPageFiles } from './page-files.ts';
import { mountExplorer } from './pages.ts';

/** What the whole page may weigh, two thirds of it charts, and what of it comes before the first rows, compressed. */
const MAX_BYTES = 125_000;
const MAX_FIRST_BYTES = 30_000;
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

let folder: string;
let files: PageFiles;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'explorer-'));
  await writeFile(join(folder, 'logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  files = await readPageFiles({ name: `A "pool" <&> $& page`, logo: join(folder, 'logo.svg') });
});
afterAll(() => rm(folder, { recursive: true }));

async function ask(path: string, method = 'GET', headers: Record<string, string> = {}) {
  const app = new Hono();
  app.onError((error, c) => sendError(c, error instanceof ApiError ? error : internalError(error)));
  mountExplorer(app, files);
  return app.request(path, { method, headers });
}

test.each(['/', '/pool/1/0x12', '/route', '/status', '/glossary'])(
  '%s is the page, guarded by its headers',
  async (path) => {
    const response = await ask(path);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    });
    const html = await response.text();
    expect(html).toContain('<title>A &quot;pool&quot; &lt;&amp;&gt; $&amp; page</title>');
    expect(html).not.toMatch(/<script(?![^>]* src=)|style=|onload=|https?:\/\/|%[A-Z]+%/);
    expect((await ask(path, 'HEAD')).status).toBe(200);
  },
);

test('every file that the page names exists, is cached permanently, and is compressed when it is long and the client accepts it', async () => {
  const html = await (await ask('/')).text();
  const names = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(3);
  for (const name of names) {
    expect(name).toMatch(/-[0-9A-Za-z]{8}\.(js|css|svg)$/);
    const plain = await ask(name);
    const zipped = await ask(name, 'GET', { 'Accept-Encoding': 'gzip' });
    expect([plain.status, zipped.status]).toEqual([200, 200]);
    expect(plain.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable, no-transform');
    expect(plain.headers.get('Content-Security-Policy')).toBe(POLICY);
    const bytes = Buffer.from(await plain.arrayBuffer());
    if (bytes.length < COMPRESS_FROM_BYTES) continue;
    expect(zipped.headers.get('Content-Encoding')).toBe('gzip');
    expect(gunzipSync(await zipped.arrayBuffer()).equals(bytes)).toBe(true);
  }
  expect((await ask('/assets/../index.html')).status).toBe(404);
  expect((await ask('/assets/main.js')).status).toBe(404);
});

test('the first list of pools is fetched beside the scripts, and on no other page', async () => {
  const preload = '<link rel="preload" as="fetch" crossorigin href="/public/v1/evm/metadata?count=25';
  expect(await (await ask('/')).text()).toContain(preload);
  for (const path of ['/?chain=1', '/route']) expect(await (await ask(path)).text()).not.toContain('as="fetch"');
});

const textOf = ({ content }: ReadyBody): string =>
  typeof content === 'string' ? content : new TextDecoder().decode(content);

test('the page links the documents of the API', () => {
  const texts = [...files.assets.values()].map(textOf).join('');
  for (const path of ['/docs', '/openapi.json', '/asyncapi.json']) expect(texts).toContain(`href:"${path}"`);
});

test('the page is as light as it has to be', async () => {
  const html = textOf(files.page);
  const sizeOf = async (body: ReadyBody) => (await body.zipped()).length;
  const page = await sizeOf(files.page);
  const sizes = await Promise.all([...files.assets].map(async ([name, body]) => [name, await sizeOf(body)] as const));
  const sum = (parts: readonly (readonly [string, number])[]) => parts.reduce((total, [, bytes]) => total + bytes, 0);
  const first = sizes.filter(([name]) => html.includes(name));
  expect(sum(sizes) + page).toBeLessThanOrEqual(MAX_BYTES);
  expect(sum(first) + page).toBeLessThanOrEqual(MAX_FIRST_BYTES);
});

test('a logo that cannot be used is reported with its setting', async () => {
  const read = (logo: string) => readPageFiles({ name: 'x', logo });
  await expect(read('/nowhere/logo.svg')).rejects.toThrow('EXPLORER_LOGO: cannot be read (ENOENT)');
  await expect(read(join(folder, 'logo.html'))).rejects.toThrow('EXPLORER_LOGO: not one of .svg, .png, .ico');
  await writeFile(join(folder, 'large.png'), Buffer.alloc(100_001));
  await expect(read(join(folder, 'large.png'))).rejects.toThrow('EXPLORER_LOGO: larger than 100000 bytes');
});
