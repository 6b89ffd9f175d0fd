/**
 * What the bundle of Ponder has in place of Vite, PGlite and others, by their names. Files of our project for Ponder
 * are JavaScript that loads bundles: Node runs them as they are, and a database is always given.
 */
import { pathToFileURL } from 'node:url';

interface Handler {
  readonly name: string;
  readonly fn: unknown;
}

/** The module `ponder:registry`. */
export const ponder = {
  fns: [] as Handler[],
  on(name: string, fn: unknown): void {
    this.fns.push({ name, fn });
  },
};

export class ViteNodeRunner {
  executeFile(path: string): Promise<unknown> {
    return import(pathToFileURL(path).href);
  }

  executeId(name: string): Promise<unknown> {
    return import(name);
  }
}

export const createServer = async ({ root }: { readonly root: string }) => ({
  config: { root },
  pluginContainer: { buildStart: async () => undefined },
  close: async () => undefined,
});
export class ViteNodeServer {}
export const installSourcemapsSupport = () => undefined;
// biome-ignore lint/style/noDefaultExport: The plugin `vite-tsconfig-paths` is one.
export default () => undefined;
// Of `ponder dev` alone.
export const normalizeModuleId = undefined;
export const toFilePath = undefined;

export class PGlite {}
export const types = {};
// Of APIs by Ponder.
export const client = undefined;
export const graphql = undefined;
