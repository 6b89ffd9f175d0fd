import { readFileSync } from 'node:fs';

/** The queries of a file of `docs/use`, in order. */
export function publicQueries(name: 'dex-trades' | 'pool-yields'): readonly string[] {
  const text = readFileSync(new URL(`../../docs/use/${name}.sql`, import.meta.url), 'utf8');
  return text.split(/;\n+/).filter((query) => query.trim() !== '');
}
