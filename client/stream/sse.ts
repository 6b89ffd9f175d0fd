import { ConnectionError, responseError } from '../rest/errors.ts';
import { headersOf } from './headers.ts';
import type { StreamMessage, Transport } from './types.ts';

/** Server-sent events, read with `fetch`. */
export const followEvents: Transport = async (
  { base, pools, depth, basis, apiKey, fetch },
  after,
  onMessage,
  signal,
) => {
  const headers = headersOf(apiKey, after ? { 'Last-Event-ID': after } : {});
  const response = await fetch(`${base}/stream?depth=${depth}&pools=${pools.join()}${basis ? `&basis=${basis}` : ''}`, {
    headers,
    signal,
  });
  if (!response.ok || !response.body) throw responseError(response, await response.json().catch(() => null));
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  for (let text = ''; ; ) {
    const { done, value } = await reader.read();
    if (done) throw new ConnectionError('The stream ended');
    text += decoder.decode(value, { stream: true });
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) onMessage(event.startsWith(':') ? null : parseEvent(event));
  }
};

function parseEvent(text: string): StreamMessage {
  const fields = Object.fromEntries(
    text.split('\n').map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { ...JSON.parse(fields.data), event: fields.event, id: fields.id };
}
