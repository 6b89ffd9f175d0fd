import { OpenAPIHono } from '@hono/zod-openapi';
import { RoutingConfig } from '../../config/routing-schema.ts';
import { registerPammQuote } from '../pamm/pamm-quote.ts';
import { registerPublicResources } from '../public-resources.ts';
import { openApiDocument, registerReference } from './reference.ts';

/** The OpenAPI document of the whole API, from the routes alone: no database, Redis or chain is asked. */
export function describeApi() {
  return openApiDocument(documentedRoutes());
}

/** An app with every documented route, none of which can answer. */
export function documentedRoutes(): OpenAPIHono {
  const app = new OpenAPIHono();
  const chains = new Map();
  registerPublicResources(app, {
    chains,
    directory: unused(),
    snapshots: unused(),
    database: unused(),
    statusMaxAgeSecs: 0,
    routing: RoutingConfig.parse({}),
  });
  registerPammQuote(app, { chains, endpoints: new Map(), submit: () => Promise.reject(new Error('only described')) });
  registerReference(app);
  return app;
}

/** Stands for what only a request would use. */
function unused<T extends object>(): T {
  return new Proxy({} as T, {
    get() {
      throw new Error('a description of the API asks nothing');
    },
  });
}
