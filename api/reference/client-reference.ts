import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Hono } from 'hono';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { ResultCache } from '../../runtime/result-cache.ts';
import { notFound } from '../errors.ts';
import { ReadyBody, SMALL } from '../http/ready-body.ts';
import { sendFile } from '../http/send-file.ts';

/** Where the build puts the reference of the client package. */
const DIST = `${PROJECT_ROOT}dist/client-reference`;
const PATH = '/docs/client';
const MAX_FILES = 100;

/** `/docs/client/`, the reference of the client package. */
export function mountClientReference(app: Hono): void {
  const files = new ResultCache<ReadyBody>(MAX_FILES);
  // Links in the pages are relative.
  app.get(PATH, (c) => c.redirect(`${PATH}/`));
  app.get(`${PATH}/*`, async (c) => {
    const name = c.req.path.slice(PATH.length + 1) || 'index.html';
    return sendFile(c, name, await files.get(name, () => readReferenceFile(name)), 'public, max-age=3600');
  });
}

/** @throws ApiError 404 unless the build made it */
async function readReferenceFile(name: string): Promise<ReadyBody> {
  const made = await readdir(DIST, { recursive: true }).catch((): string[] => []);
  if (!extname(name) || !made.includes(name)) throw notFound();
  return new ReadyBody(await readFile(join(DIST, name)), SMALL);
}
