import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Hono } from 'hono';
import { LRUCache } from 'lru-cache';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { notFound } from '../errors.ts';
import { ReadyBody, SMALL } from '../http/ready-body.ts';
import { sendFile } from '../http/send-file.ts';

/** Where the build puts the reference of the client package. */
const DIST = `${PROJECT_ROOT}dist/client-reference`;
const PATH = '/docs/client';
const MAX_FILES = 100;

/** `/docs/client/`, the reference of the client package. */
export function mountClientReference(app: Hono): void {
  const files = new LRUCache({ max: MAX_FILES, fetchMethod: readReferenceFile });
  // Links in the pages are relative.
  app.get(PATH, (c) => c.redirect(`${PATH}/`));
  app.get(`${PATH}/*`, async (c) => {
    const name = c.req.path.slice(PATH.length + 1) || 'index.html';
    const file = await files.fetch(name);
    if (!file) throw notFound();
    return sendFile(c, name, file, 'public, max-age=3600');
  });
}

/** Undefined unless the build made it. */
async function readReferenceFile(name: string): Promise<ReadyBody | undefined> {
  const made = await readdir(DIST, { recursive: true }).catch((): string[] => []);
  return extname(name) && made.includes(name) ? new ReadyBody(await readFile(join(DIST, name)), SMALL) : undefined;
}
