import { readFile } from 'node:fs/promises';

export type Held = Map<string, { readonly quote: object; readonly block: number }>;

type Follow = (url: string, held: Held, onBlock: (block: number | null) => void, signal: AbortSignal) => Promise<void>;

/** The JavaScript client of docs/use/stream.md, which takes a connection for dead after `silenceMs` instead of 6 s. */
export async function documentClient(silenceMs: number): Promise<Follow> {
  const document = await readFile(new URL('../../docs/use/stream.md', import.meta.url), 'utf8');
  const text = /```js\n([\s\S]*?export async function follow[\s\S]*?)```/.exec(document)?.[1] ?? '';
  const source = text.replace('timeout: 6_000', `timeout: ${silenceMs}`);
  if (source === text) throw new Error('the client of docs/use/stream.md has no limit of 6 s');
  const module = await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(source)}`);
  return module.follow;
}
