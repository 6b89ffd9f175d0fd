import { get, type IncomingMessage } from 'node:http';
import type { StreamEventName } from '../../api/stream/types.ts';
import { parseJson } from '../../runtime/json.ts';
import { Book, type Received } from './book.ts';

export interface SseClient {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly book: Book;
  readonly messages: readonly Received[];
  /** Resolves when the server ended the connection. */
  readonly ended: Promise<void>;
  /** Leaves what comes unread, or reads again. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Connects to a stream; a given book resumes after its last message. `onMessage` is called for each message. */
export async function connectSse(
  url: string,
  book = new Book(),
  headers: Record<string, string> = {},
  onMessage?: (message: Received) => void,
): Promise<SseClient> {
  book.reconnect();
  const after = book.lastId === undefined ? {} : { 'Last-Event-ID': book.lastId };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: { ...after, ...headers }, agent: false }, resolve).on('error', reject);
  });
  const messages: Received[] = [];
  let text = '';
  response.setEncoding('utf8');
  response.on('error', () => undefined); // `ended` reports a termination.
  if (response.statusCode === 200) {
    response.on('data', (chunk: string) => {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const part = text.slice(0, end);
        text = text.slice(end + 2);
        const sentBefore = parseEvent(part);
        messages.push(sentBefore);
        book.take(sentBefore);
        onMessage?.(sentBefore);
      }
    });
  }
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    book,
    messages,
    ended: new Promise((resolve) => response.once('close', resolve)),
    pause: () => response.pause(),
    resume: () => response.resume(),
    close: () => response.destroy(),
  };
}

function parseEvent(text: string): Received {
  // Comments stand before events.
  const lines = text.split('\n').filter((line) => !line.startsWith(':'));
  const fields = new Map(lines.map((line) => line.split(/: (.*)/s) as [string, string]));
  return {
    event: fields.get('event') as StreamEventName,
    id: fields.get('id') ?? '',
    data: parseJson(fields.get('data') ?? ''),
  };
}
