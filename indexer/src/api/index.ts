import { Hono } from 'hono';

// Ponder demands an app here and adds its own /health, /ready, /status and /metrics. The service's API is in api/.
export default new Hono();
