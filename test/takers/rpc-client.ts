import { expect } from 'vitest';
import type { TextClient } from './levels-client.ts';

export interface RpcResponse {
  readonly id: unknown;
  readonly result?: never;
  readonly error?: { readonly code: number; readonly message: string };
}

/** What comes over a WebSocket: a response, or what a subscription sends. */
interface Message extends RpcResponse {
  readonly method?: string;
  readonly params?: { readonly subscription: string; readonly result: unknown; readonly reason?: string };
}

/** The header of a client with a key. */
export const KEY = { Authorization: 'Bearer good' };

export const call = (method: string, params?: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });

export const until = (what: string, isTrue: () => boolean | Promise<boolean>) =>
  expect.poll(isTrue, { interval: 20, message: what }).toBe(true);

/** Calls of JSON-RPC by POST. @param url gives the URL of a chain once it is known */
export function rpcClient(url: () => string) {
  const post = (body: unknown, headers: Record<string, string> = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return fetch(url(), { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: text });
  };
  const ask = async (method: string, params: unknown = []) => {
    const response = (await (await post(call(method, params))).json()) as RpcResponse;
    expect(response).toMatchObject({ jsonrpc: '2.0', id: 1 });
    return response;
  };
  /** Gives the text of a result, whose numbers may have more digits than JSON's. */
  const askText = async (method: string, params: unknown = [], headers: Record<string, string> = {}) => {
    const text = await (await post(call(method, params), headers)).text();
    return /"result":(.*)\}$/.exec(text)?.[1] ?? '';
  };
  return { url, post, ask, askText };
}

export const messagesOf = ({ texts }: TextClient) => texts.map(({ text }) => JSON.parse(text) as Message);

/** What a subscription has sent. */
export const notesOf = (client: TextClient, id: unknown) =>
  messagesOf(client).filter(({ params }) => id !== undefined && params?.subscription === id);

/** What a subscription has sent, as texts: their numbers may have more digits than JSON's. */
export const noteTexts = ({ texts }: TextClient, id: unknown): string[] =>
  texts.flatMap(({ text }) => {
    const note =
      /^\{"jsonrpc":"2.0","method":"pamm_subscription","params":\{"subscription":"(.+?)","result":(.*)\}\}$/s;
    const [, subscription, result] = note.exec(text) ?? [];
    return result !== undefined && subscription === id ? [result] : [];
  });

/** Sends a call over a WebSocket, and waits for its response. */
export async function askWs(client: TextClient, body: { readonly id: unknown }): Promise<Message> {
  const find = () => messagesOf(client).find(({ id }) => id === body.id);
  client.socket.send(JSON.stringify(body));
  await until('the response', () => find() !== undefined);
  return find() as Message;
}
