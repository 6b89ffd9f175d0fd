import { gunzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { COMPRESS_FROM_BYTES } from '../http/ready-body.ts';
import { mountDocsPage } from './docs-page.ts';

const app = new Hono();
mountDocsPage(app, 'A title');
const get = async (path: string, encoding = 'identity') =>
  app.request(path, { headers: { 'Accept-Encoding': encoding } });

test('the page names no host but its own, and tells the browser to ask none', async () => {
  const response = await get('/docs');
  const html = await response.text();
  expect(html).toContain('<title>A title</title>');
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
