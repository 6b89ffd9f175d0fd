import type { LoadHook } from 'node:module';
import { MENDS, mendSource } from './mends.ts';

/** Runs in the thread of Node's module hooks. */
export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  if (!MENDS.some(({ file }) => url.endsWith(file))) return loaded;
  const source = mendSource(url, textOf(loaded.source));
  return source === null ? loaded : { ...loaded, source };
};

function textOf(source: Awaited<ReturnType<LoadHook>>['source']): string {
  if (source === undefined || source === null) throw new Error('a module of Ponder has no source to mend');
  return typeof source === 'string' ? source : new TextDecoder().decode(source);
}
