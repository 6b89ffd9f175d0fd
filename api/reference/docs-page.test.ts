import { existsSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { beforeAll, expect, test } from 'vitest';
import { buildReference } from '../../client/reference.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { ApiError, internalError, sendError } from '../errors.ts';
import { COMPRESS_FROM_BYTES } from '../http/ready-body.ts';
import { mountReference } from './reference.ts';

const app = new Hono();
app.onError((error, c) => sendError(c, error instanceof ApiError ? error : internalError(error)));
mountReference(app, { openapi: () => ({}), asyncapi: () => ({}) });
const get = async (path: string, encoding = 'identity') =>
  app.request(path, { headers: { 'Accept-Encoding': encoding } });

/** Only a build that starts no process makes the reference of the client. */
beforeAll(async () => {
  const folder = `${PROJECT_ROOT}dist/client-reference`;
  if (!existsSync(`${folder}/index.html`)) await buildReference(folder);
});

test('the page names no host but its own, and tells the browser to ask none', async () => {
  const response = await get('/docs');
  const html = await response.text();
  expect(html).toContain('<title>Pool Trading Data API</title>');
  const links = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map((match) => match[1]);
  const files = ['/docs/swagger-ui.css', '/asyncapi.json', '/docs/swagger-ui-bundle.js', '/docs/start.js'];
  expect(links).toEqual(['data:,', ...files]);
  expect(html).not.toMatch(/https?:|\/\//);
  const policy = response.headers.get('Content-Security-Policy') ?? '';
  expect(policy).toMatch(/^default-src 'none';/);
  expect(policy).not.toMatch(/https?:|\*|unsafe/);
  expect(html).not.toMatch(/<style|style=/);
});

test('every file that the page links is served by the API itself, compressed when it is long, for who takes it so', async () => {
  const html = await (await get('/docs')).text();
  const paths = [...html.matchAll(/"(\/docs\/[^"]+)"/g)].map((match) => match[1] ?? '');
  expect(paths.length).toBe(3);
  for (const path of paths) {
    const plain = await get(path);
    expect([path, plain.status]).toEqual([path, 200]);
    expect(plain.headers.get('Content-Type')).toMatch(path.endsWith('.css') ? /^text\/css/ : /^text\/javascript/);
    const zipped = await get(path, 'br, gzip');
    const bytes = Buffer.from(await plain.arrayBuffer());
    if (bytes.length < COMPRESS_FROM_BYTES) continue;
    expect(zipped.headers.get('Content-Encoding')).toBe('gzip');
    expect(gunzipSync(await zipped.arrayBuffer()).equals(bytes)).toBe(true);
  }
});

test('the script starts over the document of this API, and asks no validator', async () => {
  const script = await (await get('/docs/start.js')).text();
  expect(script).toContain("url: '/openapi.json'");
  expect(script).toContain('validatorUrl: null');
  expect(script).not.toMatch(/https?:/);
  expect(await (await get('/docs/swagger-ui-bundle.js')).text()).toContain('SwaggerUIBundle');
});

test('no other file can be had', async () => {
  for (const name of ['package.json', '../package.json', '%2e%2e/package.json', 'swagger-ui.css.map']) {
    expect((await get(`/docs/${name}`)).status).toBe(404);
  }
});

test('the reference of the client is served with its files, and runs no script of its pages', async () => {
  expect((await get('/docs/client')).headers.get('Location')).toBe('/docs/client/');
  const html = await (await get('/docs/client/')).text();
  expect(html).not.toMatch(/<script>/);
  const files = [...html.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, name = '']) => name);
  expect(files).toContain('assets/style.css');
  const names = [...files, 'modules/math.html', 'modules/rest.html', 'modules/stream.html'];
  for (const name of names) expect([name, (await get(`/docs/client/${name}`)).status]).toEqual([name, 200]);
  const page = await (await get('/docs/client/functions/math.quoteExactIn.html')).text();
  expect(page).toMatch(/interpolates volume\s+within the last one/);
  for (const name of ['../swagger/swagger-ui.css', '%2e%2e/sources.json', 'assets', 'x.html']) {
    expect([name, (await get(`/docs/client/${name}`)).status]).toEqual([name, 404]);
  }
});

test('the list for tools names documents that are served', async () => {
  const response = await get('/llms.txt');
  expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
  const paths = [...(await response.text()).matchAll(/\]\((\/[^)]+)\)/g)].map(([, path = '']) => path);
  expect(paths.length).toBe(5);
  // The status is not one of the documents that are mounted here.
  for (const path of paths.slice(0, -1)) expect([path, (await get(path)).status]).toEqual([path, 200]);
});
