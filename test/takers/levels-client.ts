import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

/** A client of a WebSocket that sends texts, and what it got. */
export interface TextClient {
  readonly socket: WebSocket;
  /** `at`: when it was read, Unix milliseconds. */
  readonly texts: { readonly at: number; readonly text: string }[];
  /** The close code; null while it is open. */
  readonly closed: () => number | null;
}

/** @param url of HTTP */
export async function connectTexts(url: string, headers: Record<string, string> = {}): Promise<TextClient> {
  const socket = new WebSocket(url.replace('http', 'ws'), { headers });
  const texts: TextClient['texts'] = [];
  let code: number | null = null;
  socket.on('message', (data) => texts.push({ at: Date.now(), text: String(data) }));
  socket.on('close', (closed) => {
    code = closed;
  });
  await once(socket, 'open');
  onTestFinished(() => socket.terminate());
  return { socket, texts, closed: () => code };
}
