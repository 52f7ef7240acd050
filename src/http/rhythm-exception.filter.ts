// `RhythmExceptionFilter`: the errors of the services as HTTP responses with the right status.

import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { throwError } from 'rxjs';
import { isConnectionError } from '../../libs/store/index.js';
import { responseTo } from './status-of-error.js';

export type { RhythmErrorBody } from './status-of-error.js';

/**
 * What the filter catches, for `@Catch`: errors of Rhythm, and those of its own connections to the database. The app's connections
 * may fail with the same errors, which are not Rhythm's to explain.
 */
class ErrorOfRhythm {
  static [Symbol.hasInstance](error: unknown): boolean {
    return isConnectionError(error) || (error instanceof Error && isOurCode((error as { code?: unknown }).code));
  }
}

/**
 * Replies to a request that failed in Rhythm with the status that the error means (404 for an unknown id, 409 for a conflict, 410
 * for a used token, …) and the body `{ statusCode, error, code, message }`. Of an error of the server (5xx) the client gets no
 * details; they are logged. Works with every HTTP adapter of Nest.
 *
 * ```ts
 * providers: [{ provide: APP_FILTER, useClass: RhythmExceptionFilter }]
 * ```
 *
 * @publicApi
 */
@Catch(ErrorOfRhythm)
export class RhythmExceptionFilter implements ExceptionFilter {
  private readonly logger = new Logger('Rhythm');

  constructor(private readonly adapterHost: HttpAdapterHost) {}

  catch(error: Error, host: ArgumentsHost): unknown {
    const { body, retryAfter } = responseTo(error);
    if (body.statusCode >= 500 && body.code !== 'RHYTHM_RESULT_TIMEOUT') this.logger.error(`${body.code}: ${error.message}`, error.stack);
    const context = host.getType<string>();
    // The message as a microservice or a socket gets it from Nest's own filters.
    const { statusCode, code, message } = body;
    const data = { status: 'error', statusCode, code, message };
    if (context === 'rpc') return throwError(() => data);
    if (context === 'ws') return sendToSocket(host.switchToWs().getClient(), data);
    // GraphQL and what else there is: an exception that its own filters know how to report.
    if (context !== 'http') throw new HttpException(body, statusCode, { cause: error });
    return this.reply(host, body, retryAfter);
  }

  private reply(host: ArgumentsHost, body: { statusCode: number }, retryAfter: number | undefined): void {
    const { httpAdapter } = this.adapterHost;
    const response: unknown = host.switchToHttp().getResponse();
    // A stream that has begun cannot be turned into an error.
    if (httpAdapter.isHeadersSent(response)) return httpAdapter.end(response);
    if (retryAfter !== undefined) httpAdapter.setHeader(response, 'Retry-After', String(retryAfter));
    httpAdapter.reply(response, body, body.statusCode);
  }
}

// By the code and not by the class: an app may have two copies of the package (ESM and CommonJS).
function isOurCode(code: unknown): boolean {
  return typeof code === 'string' && code.startsWith('RHYTHM_');
}

// Socket.IO sends what is emitted; a plain WebSocket has `send`, and `emit` would only call listeners in this process.
function sendToSocket(
  client: { emit(event: string, data: unknown): unknown; readyState?: number; send?(text: string): void },
  data: unknown,
): void {
  if (typeof client.readyState === 'number' && client.send) client.send(JSON.stringify({ event: 'exception', data }));
  else client.emit('exception', data);
}
