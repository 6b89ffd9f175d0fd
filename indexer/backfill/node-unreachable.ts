import { AppError } from '../../config/app-error.ts';

/** No node of a chain answers, or none as it should. */
export class NodeUnreachableError extends AppError {
  readonly code = 'NODE_UNREACHABLE';
  readonly retryable = true;
}
