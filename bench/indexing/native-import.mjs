/** What the modules of `dist/ponder` load bundles by: `indexer/main.ts` sets it otherwise. */
const DIST = new URL('../../dist/', import.meta.url);
globalThis.PONDER_IMPORT = (bundle) => import(bundle.startsWith('.') ? new URL(bundle, DIST).href : bundle);
