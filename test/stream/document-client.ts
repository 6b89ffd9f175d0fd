import { readFile } from 'node:fs/promises';

export type Held = Map<string, { readonly quote: object; readonly block: number }>;

type Follow = (url: string, held: Held, onBlock: (block: number | null) => void, signal: AbortSignal) => Promise<void>;

/**
 * The JavaScript client of docs/use/stream.md.
 *
 * @param silenceMs after which it takes a connection for dead, instead of 6 s
 * @param pauseMs before it connects again, where the service names no other, instead of 1 s
 */
export async function documentClient(silenceMs: number, pauseMs = 1_000): Promise<Follow> {
  const document = await readFile(new URL('../../docs/use/stream.md', import.meta.url), 'utf8');
  const text = /```js\n([\s\S]*?export async function follow[\s\S]*?)```/.exec(document)?.[1] ?? '';
  const source = text.replace('timeout: 6_000', `timeout: ${silenceMs}`).replaceAll('1_000', `${pauseMs}`);
  for (const named of ['timeout: 6_000', 'retryMs = 1_000', 'retryMs ?? 1_000'])
    if (!text.includes(named)) throw new Error(`the client of docs/use/stream.md has no ${named}`);
  const module = await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(source)}`);
  return module.follow;
}
