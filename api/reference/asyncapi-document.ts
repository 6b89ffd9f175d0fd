import { OpenAPIHono, type z } from '@hono/zod-openapi';
import { EXAMPLE } from '../declaration/example-market.ts';
import { STREAM_MESSAGES, webSocketMessage } from '../stream/message-schema.ts';
import { WsAck, WsAuth, WsError, WsPing, WsSubscribe, WsUnsubscribe } from '../stream/ws-operations.ts';
import { API_TITLE } from './openapi-document.ts';

/** What clients send over a WebSocket, and how that is answered. */
const OPERATIONS = { auth: WsAuth, subscribe: WsSubscribe, unsubscribe: WsUnsubscribe, ping: WsPing };
const ANSWERS = { ack: WsAck, error: WsError };

const INFO = {
  title: `${API_TITLE}: streams`,
  version: '1',
  description:
    'Quotes of pools as they change, by server-sent events or WebSocket. Both carry the same messages: with SSE the name ' +
    'of a message is the `event` and its name for resuming the `id` of the event; with WebSocket both stand in front of ' +
    'the data, as fields `event` and `id`. A Trading API key is optional and goes in the `Authorization` header, never in ' +
    'a query. `/openapi.json` has the parameters of the endpoint with SSE. Changed with 0.2.0: `epoch` is gone, `seq` and ' +
    '`prevSeq` count by connection, an `id` names a block, and a message without one voids the `id` before.',
};

const CHAIN_ID = {
  chain_id: { description: 'EVM chain id, one of those that `listChains` gives.', examples: [String(EXAMPLE.chainId)] },
};

/** The AsyncAPI 3 document of the streams, from the schemas that their messages are checked with. */
export function asyncApiDocument() {
  const told = Object.keys(STREAM_MESSAGES);
  const answered = Object.keys(ANSWERS).map(wsName);
  const sent = Object.keys(OPERATIONS).map(wsName);
  const events = told.map(wsName);
  return {
    asyncapi: '3.0.0',
    info: INFO,
    defaultContentType: 'application/json',
    servers: SERVERS,
    channels: {
      sse: channel('/public/v1/evm/{chain_id}/stream', 'Server-sent events of a chain.', 'https', told),
      webSocket: channel('/public/v1/evm/{chain_id}/ws', 'WebSocket of a chain.', 'wss', [
        ...sent,
        ...answered,
        ...events,
      ]),
    },
    operations: {
      tellBySse: operation('send', 'sse', told),
      tellByWebSocket: operation('send', 'webSocket', events),
      operate: { ...operation('receive', 'webSocket', sent), reply: refs('webSocket', answered) },
    },
    components: { messages: messages(), schemas: schemas() },
  };
}

/** The host is the one that serves the document, which AsyncAPI cannot say. */
const SERVERS = Object.fromEntries(
  ['https', 'wss'].map((protocol) => [
    protocol,
    {
      host: '{host}',
      protocol,
      description: 'The host that serves this document.',
      variables: { host: { default: 'localhost:3000', description: 'Host and port.' } },
    },
  ]),
);

/** Over a WebSocket a message has other fields than as an event: another name. */
const wsName = (name: string): string => `ws${capital(name)}`;
const capital = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
const schemaName = (name: string): string => `Stream${capital(name)}`;
const ref = (path: string) => ({ $ref: `#/${path}` });

const channel = (address: string, description: string, server: string, names: readonly string[]) => ({
  address,
  description,
  parameters: CHAIN_ID,
  servers: [ref(`servers/${server}`)],
  messages: Object.fromEntries(names.map((name) => [name, ref(`components/messages/${name}`)])),
});

const refs = (of: string, names: readonly string[]) => ({
  channel: ref(`channels/${of}`),
  messages: names.map((name) => ref(`channels/${of}/messages/${name}`)),
});

/** What is sent over both, by the name of the message. */
function schemaByMessage(): ReadonlyMap<string, z.ZodType> {
  const events = Object.entries(STREAM_MESSAGES);
  const names = Object.keys(STREAM_MESSAGES) as (keyof typeof STREAM_MESSAGES)[];
  return new Map<string, z.ZodType>([
    ...events,
    ...names.map((name) => [wsName(name), webSocketMessage(name)] as const),
    ...Object.entries({ ...OPERATIONS, ...ANSWERS }).map(([name, schema]) => [wsName(name), schema] as const),
  ]);
}

function messages() {
  return Object.fromEntries(
    [...schemaByMessage()].map(([name, { description }]) => [
      name,
      { summary: description, payload: ref(`components/schemas/${schemaName(name)}`) },
    ]),
  );
}

/** As JSON schemas, with those that they have in common with the OpenAPI document. */
function schemas() {
  const app = new OpenAPIHono();
  for (const [name, schema] of schemaByMessage()) app.openAPIRegistry.register(schemaName(name), schema);
  return app.getOpenAPI31Document({ openapi: '3.1.0', info: INFO }).components?.schemas;
}

const operation = (action: 'send' | 'receive', of: string, names: readonly string[]) => ({
  action,
  ...refs(of, names),
});
