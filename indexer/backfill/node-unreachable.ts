import { AppError } from '../../config/app-error.ts';

/** No node of a chain gives a usable answer. */
export class NodeUnreachableError extends AppError {
  readonly code = 'NODE_UNREACHABLE';
  readonly retryable = true;
}
