import { OpenAPIHono, type z } from '@hono/zod-openapi';
import { EXAMPLE } from '../declaration/example-market.ts';
import {
  BUILDER_LEVELS_MESSAGES,
  LEVELS_MESSAGES,
  QUOTE_STREAM_MESSAGES,
  TAKER_CALLS,
  TAKER_MESSAGES,
} from '../levels/messages.ts';
import { STREAM_MESSAGES, webSocketMessage } from '../stream/message-schema.ts';
import { WsAck, WsAuth, WsError, WsPing, WsSubscribe, WsUnsubscribe } from '../stream/ws-operations.ts';
import { API_TITLE } from './openapi-document.ts';

type Messages = Readonly<Record<string, z.ZodType>>;

const capital = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
/** Renames messages for a WebSocket, over which they have other fields than as events. */
const wsNamed = (schemas: Messages): Messages =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [`ws${capital(name)}`, schema]));

/** Messages that both transports send, by name. */
const EVENTS: Messages = STREAM_MESSAGES;
const EVENT_NAMES = Object.keys(STREAM_MESSAGES) as (keyof typeof STREAM_MESSAGES)[];
const WS_EVENTS = wsNamed(Object.fromEntries(EVENT_NAMES.map((name) => [name, webSocketMessage(name)])));
/** Operations that clients send over a WebSocket, and the responses to them. */
const WS_OPERATIONS = wsNamed({ auth: WsAuth, subscribe: WsSubscribe, unsubscribe: WsUnsubscribe, ping: WsPing });
const WS_ANSWERS = wsNamed({ ack: WsAck, error: WsError });

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
  chain_id: { description: 'EVM chain id, returned by `listChains`.', examples: [String(EXAMPLE.chainId)] },
};

/** The AsyncAPI 3 document of the streams, from the schemas that their messages are checked with. */
export function asyncApiDocument() {
  const overWebSocket = { ...WS_OPERATIONS, ...WS_ANSWERS, ...WS_EVENTS };
  const ofTakers = { ...LEVELS_MESSAGES, ...QUOTE_STREAM_MESSAGES, ...TAKER_MESSAGES, ...TAKER_CALLS };
  const all = Object.entries({ ...EVENTS, ...WS_EVENTS, ...WS_OPERATIONS, ...WS_ANSWERS, ...ofTakers });
  // Makes JSON schemas of them, and of schemas that they share with the OpenAPI document.
  const app = new OpenAPIHono();
  for (const [name, schema] of all) app.openAPIRegistry.register(schemaName(name), schema);
  const { components } = app.getOpenAPI31Document({ openapi: '3.1.0', info: INFO });
  const messages = all.map(([name, { description }]) => [
    name,
    { summary: description, payload: ref(`components/schemas/${schemaName(name)}`) },
  ]);
  return {
    asyncapi: '3.0.0',
    info: INFO,
    defaultContentType: 'application/json',
    servers: SERVERS,
    channels: {
      sse: channel('/public/v1/evm/{chain_id}/stream', 'Server-sent events of a chain.', 'https', EVENTS),
      webSocket: channel('/public/v1/evm/{chain_id}/ws', 'WebSocket of a chain.', 'wss', overWebSocket),
      priceLevels: channel(
        '/public/v1/evm/{chain_id}/price_levels',
        'Frames of price levels, for the parameters of `getPriceLevels`: at most four a second, at least one.',
        'wss',
        LEVELS_MESSAGES,
      ),
      quoteStream: channel(
        '/public/v1/evm/{chain_id}/ws/pamm_quote_stream',
        'State overrides as a builder sends them: at each change, at most 20 times a second; while a venue is live at least each ' +
          '400 ms, otherwise an empty frame each second. There is no `bye`: the reason of the close is that of a `bye`.',
        'wss',
        QUOTE_STREAM_MESSAGES,
      ),
      builderLevels: channel(
        '/public/v1/evm/{chain_id}/ws/pamm_price_levels',
        'The frames of `priceLevels`, with the same parameters, but without a `bye`.',
        'wss',
        BUILDER_LEVELS_MESSAGES,
      ),
      takers: channel('/rpc/{chain_id}', 'JSON-RPC of takers: the calls of `callTakers`, and subscriptions.', 'wss', {
        ...TAKER_MESSAGES,
        ...TAKER_CALLS,
      }),
    },
    operations: {
      tellBySse: { action: 'send', ...refs('sse', EVENTS) },
      tellByWebSocket: { action: 'send', ...refs('webSocket', WS_EVENTS) },
      operate: { action: 'receive', ...refs('webSocket', WS_OPERATIONS), reply: refs('webSocket', WS_ANSWERS) },
      tellPriceLevels: { action: 'send', ...refs('priceLevels', LEVELS_MESSAGES) },
      tellQuoteStream: { action: 'send', ...refs('quoteStream', QUOTE_STREAM_MESSAGES) },
      tellBuilderLevels: { action: 'send', ...refs('builderLevels', BUILDER_LEVELS_MESSAGES) },
      tellTakers: { action: 'send', ...refs('takers', TAKER_MESSAGES) },
      call: { action: 'receive', ...refs('takers', TAKER_CALLS), reply: refs('takers', TAKER_MESSAGES) },
    },
    components: { messages: Object.fromEntries(messages), schemas: components?.schemas },
  };
}

/** The host is a variable: AsyncAPI cannot say that it is the host which serves the document. */
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

const schemaName = (name: string): string => `Stream${capital(name)}`;
const ref = (path: string) => ({ $ref: `#/${path}` });

const channel = (address: string, description: string, server: string, messages: Messages) => ({
  address,
  description,
  parameters: CHAIN_ID,
  servers: [ref(`servers/${server}`)],
  messages: Object.fromEntries(Object.keys(messages).map((name) => [name, ref(`components/messages/${name}`)])),
});

const refs = (of: string, messages: Messages) => ({
  channel: ref(`channels/${of}`),
  messages: Object.keys(messages).map((name) => ref(`channels/${of}/messages/${name}`)),
});
