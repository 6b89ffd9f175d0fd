import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { ConfigError } from '../../config/config-error.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { ReadyBody, SMALL } from '../http/ready-body.ts';

const DIST = `${PROJECT_ROOT}dist/web`;
const MAX_LOGO_BYTES = 100_000;

const LOGO_TYPES = ['.svg', '.png', '.ico'];

const PRELOADED_LIST = /<link rel="preload" as="fetch"[^>]*>\n/;

/** All that the web page consists of, ready to be sent. */
export type PageFiles = {
  /** The one document, whichever of its views is requested. */
  readonly page: ReadyBody;
  /** The document for the first list of pools: browsers fetch that list together with the scripts. */
  readonly front: ReadyBody;
  /** By name. A file with another content has another name. */
  readonly assets: ReadonlyMap<string, ReadyBody>;
};

/** @param logo path of a local picture; undefined: none */
export type PageSettings = { readonly name: string; readonly logo: string | undefined };

/**
 * Reads the built page, with its name and logo.
 *
 * @throws ConfigError when the page was not built, or the logo cannot be used
 */
export async function readPageFiles({ name, logo }: PageSettings): Promise<PageFiles> {
  const template = await readFile(join(DIST, 'index.html'), 'utf8').catch((cause) => {
    throw new ConfigError('EXPLORER: the web page is not built: run "npm run build", or set it to off', { cause });
  });
  const names = await readdir(join(DIST, 'assets'));
  const built = names.map(
    async (file) => [file, new ReadyBody(await readFile(join(DIST, 'assets', file)), SMALL)] as const,
  );
  const picture = logo === undefined ? null : await readLogo(logo);
  const front = template
    .replaceAll('%NAME%', () => escapeHtml(name))
    .replace('%ICON%', picture ? `/assets/${picture[0]}` : 'data:,');
  const assets = new Map([...(await Promise.all(built)), ...(picture ? [picture] : [])]);
  const page = front.replace(PRELOADED_LIST, '');
  return { front: new ReadyBody(front, SMALL), page: new ReadyBody(page, SMALL), assets };
}

async function readLogo(path: string): Promise<readonly [string, ReadyBody]> {
  const extension = extname(path).toLowerCase();
  if (!LOGO_TYPES.includes(extension)) throw new ConfigError(`EXPLORER_LOGO: not one of ${LOGO_TYPES.join(', ')}`);
  const content = await readFile(path).catch((cause: NodeJS.ErrnoException) => {
    throw new ConfigError(`EXPLORER_LOGO: cannot be read (${cause.code})`, { cause });
  });
  if (content.length > MAX_LOGO_BYTES) throw new ConfigError(`EXPLORER_LOGO: larger than ${MAX_LOGO_BYTES} bytes`);
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 8);
  return [`logo-${hash}${extension}`, new ReadyBody(content, SMALL)];
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign);
