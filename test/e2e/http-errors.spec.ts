// Errors of the services as HTTP responses, in real applications on Express and on Fastify.

import { EventEmitter } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Body, Controller, Get, HttpException, Inject, Injectable, Logger, Param, Post, Query, Res } from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { lastValueFrom, type Observable } from 'rxjs';
import request from 'supertest';
import {
  CompletionService,
  ExecutionNotFoundError,
  ExecutionService,
  RhythmExceptionFilter,
  RhythmModule,
  type RhythmModuleOptions,
  SignalService,
  Task,
  type TaskContext,
} from '../../src/index.js';
import { Wire } from '../faults/proxy.js';
import { useTestDatabase, waitFor } from '../support/index.js';
import { quickOptions, SILENT } from './start-app.js';

const FLOWS = [
  { name: 'patient', source: 'return await Signal.when("go")' },
  { name: 'broken', source: 'throw new Error("password is 1234")' },
];

@Injectable()
class Tasks {
  static readonly tokens: string[] = [];

  @Task('ask')
  async ask(_: unknown, context: TaskContext) {
    Tasks.tokens.push(await context.completeLater());
  }
}

@Controller()
class Executions {
  constructor(
    @Inject(ExecutionService) private readonly executions: ExecutionService,
    @Inject(CompletionService) private readonly completions: CompletionService,
    @Inject(SignalService) private readonly signals: SignalService,
  ) {}

  @Get('executions/:id')
  get(@Param('id') id: string) {
    return this.executions.get(id);
  }

  @Post('executions/:id')
  start(@Param('id') id: string, @Body() { name, input }: { name: string; input?: unknown }) {
    return this.executions.start(name, input, { id });
  }

  @Post('orders')
  order() {
    return this.executions.start('patient');
  }

  @Post('executions/:id/:action')
  control(@Param('id') id: string, @Param('action') action: 'retry' | 'remove' | 'cancel') {
    return this.executions[action](id);
  }

  @Get('executions/:id/result')
  result(@Param('id') id: string, @Query('timeout') timeout: string) {
    return this.executions.result(id, { timeout });
  }

  @Post('signals/:id')
  signal(@Param('id') id: string) {
    return this.signals.send(id, 'go');
  }

  @Post('answers/:token')
  answer(@Param('token') token: string) {
    return this.completions.complete(token, 'yes');
  }

  @Get('teapot')
  teapot() {
    throw new HttpException('I am a teapot', 418);
  }

  @Get('elsewhere')
  elsewhere() {
    throw Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:443'), { code: 'ECONNREFUSED' });
  }

  @Get('stream')
  async stream(@Res() response: { raw?: NodeJS.WritableStream; hijack?(): void } & NodeJS.WritableStream) {
    response.hijack?.();
    (response.raw ?? response).write('begun');
    await this.executions.get('nobody');
  }
}

const ADAPTERS: [string, () => ExpressAdapter | FastifyAdapter][] = [
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
];

async function startHttp(adapter: ExpressAdapter | FastifyAdapter, options: RhythmModuleOptions) {
  const module = await Test.createTestingModule({
    imports: [RhythmModule.forRoot({ flows: FLOWS, ...options })],
    controllers: [Executions],
    providers: [Tasks, { provide: APP_FILTER, useClass: RhythmExceptionFilter }],
  })
    .setLogger(SILENT)
    .compile();
  const app = module.createNestApplication(adapter as ExpressAdapter);
  await app.listen(0, '127.0.0.1');
  const http = request(await app.getUrl());
  return { app, http };
}

describe.each(ADAPTERS)('an error of a service on %s', (_, adapter) => {
  const database = useTestDatabase();
  let http: Awaited<ReturnType<typeof startHttp>>['http'];
  let close: () => Promise<void>;
  beforeAll(async () => {
    const { app, ...rest } = await startHttp(adapter(), quickOptions(database, { limits: { payloadBytes: 1_024 } }));
    http = rest.http;
    close = () => app.close();
  });
  afterAll(() => close?.());
  afterEach(() => Logger.overrideLogger(SILENT));

  it('is 404 for an id and a name that do not exist', async () => {
    const { body } = await http.get('/executions/nobody').expect(404);
    expect(body).toEqual({
      statusCode: 404,
      error: 'Not Found',
      code: 'RHYTHM_NOT_FOUND',
      message: expect.stringContaining('No execution has the id "nobody"'),
    });
    const unknown = await http.post('/executions/a').send({ name: 'ordre' }).expect(404);
    expect(unknown.body.code).toBe('RHYTHM_UNKNOWN_WORKFLOW');
    expect(unknown.body.message).not.toContain('patient');
  });

  it('is 409 for a conflict, and for what the state of an execution does not allow', async () => {
    await http.post('/executions/twice').send({ name: 'patient', input: 1 }).expect(201);
    const { body } = await http.post('/executions/twice').send({ name: 'patient', input: 2 }).expect(409);
    expect(body).toMatchObject({ statusCode: 409, error: 'Conflict', code: 'RHYTHM_CONFLICT' });
    expect((await http.post('/executions/twice/retry').expect(409)).body.code).toBe('RHYTHM_STATE');
    await http.post('/executions/waiter').send({ name: 'ask' }).expect(201);
    expect((await http.post('/signals/waiter').expect(409)).body.code).toBe('RHYTHM_SIGNAL_TO_TASK');
  });

  it('is 400 for an invalid argument, and 413 for an input that is too large', async () => {
    const { body } = await http.post('/executions/a:b').send({ name: 'patient' }).expect(400);
    expect(body).toMatchObject({ statusCode: 400, error: 'Bad Request', code: 'RHYTHM_ID_INVALID' });
    const large = await http
      .post('/executions/large')
      .send({ name: 'patient', input: 'x'.repeat(2_000) })
      .expect(413);
    expect(large.body).toMatchObject({ statusCode: 413, error: 'Payload Too Large', code: 'RHYTHM_PAYLOAD_TOO_LARGE' });
  });

  it('is 410 for a token that was used', async () => {
    Tasks.tokens.length = 0;
    await http.post('/executions/token').send({ name: 'ask' }).expect(201);
    const token = await waitFor('the token', () => Tasks.tokens[0]);
    await http.post(`/answers/${token}`).expect(201);
    const { body } = await http.post(`/answers/${token}`).expect(410);
    expect(body).toMatchObject({ statusCode: 410, error: 'Gone', code: 'RHYTHM_COMPLETION_TOKEN' });
  });

  it('is 504 while a result is awaited for too long, without telling what the server knows', async () => {
    await http.post('/executions/slow').send({ name: 'patient' }).expect(201);
    const { body } = await http.get('/executions/slow/result?timeout=20ms').expect(504);
    expect(body).toEqual({
      statusCode: 504,
      error: 'Gateway Timeout',
      code: 'RHYTHM_RESULT_TIMEOUT',
      message: 'The execution has not ended yet.',
    });
  });

  it('is 500 for a run that failed: the client gets no details, and the log has them', async () => {
    await http.post('/executions/broken').send({ name: 'broken' }).expect(201);
    const logged: string[] = [];
    Logger.overrideLogger({ ...SILENT, error: (message: unknown) => void logged.push(String(message)) });
    const { body } = await http.get('/executions/broken/result?timeout=10s').expect(500);
    expect(body).toEqual({
      statusCode: 500,
      error: 'Internal Server Error',
      code: 'RHYTHM_EXECUTION_FAILED',
      message: 'The execution failed.',
    });
    expect(logged.filter((line) => line.startsWith('RHYTHM_EXECUTION_FAILED'))).toEqual([
      'RHYTHM_EXECUTION_FAILED: Execution "broken" failed: Error: password is 1234',
    ]);
  });

  it('leaves the errors of the app to the app', async () => {
    await http.get('/teapot').expect(418);
    const { body } = await http.get('/elsewhere').expect(500);
    expect(body).not.toHaveProperty('code');
  });

  it('ends a response that has begun', async () => {
    const { text } = await http.get('/stream').expect(200);
    expect(text).toBe('begun');
  });

  it('is 503 while the database cannot be reached, with the time after which to try again', async () => {
    const wire = await Wire.to(database.url);
    const own = await startHttp(
      adapter(),
      quickOptions(database, { role: 'api', database: { url: wire.url, acquireTimeout: '1s', schema: database.schema } }),
    );
    try {
      await own.http.post('/orders').expect(201);
      wire.cut();
      for (const send of [own.http.get('/executions/nobody'), own.http.post('/orders'), own.http.post('/executions/a/cancel')]) {
        const { body, headers } = await send.expect(503);
        expect(body).toEqual({
          statusCode: 503,
          error: 'Service Unavailable',
          code: 'RHYTHM_DATABASE_UNREACHABLE',
          message: 'The service cannot do this now. Try again later.',
        });
        expect(headers['retry-after']).toBe('5');
      }
      wire.mend();
      await own.http.get('/executions/nobody').expect(404);
    } finally {
      wire.mend();
      await own.app.close();
      await wire.close();
    }
  });
});

describe('an error of a service that no HTTP request asked for', () => {
  const filter = new RhythmExceptionFilter(new HttpAdapterHost());
  const host = (type: string, args: unknown[]) => {
    const context = new ExecutionContextHost(args);
    context.setType(type);
    return context;
  };
  const DATA = { status: 'error', statusCode: 404, code: 'RHYTHM_NOT_FOUND', message: expect.stringContaining('nobody') };

  it('is the error of the reply in a microservice', async () => {
    const reply = filter.catch(new ExecutionNotFoundError('nobody'), host('rpc', [{}, {}])) as Observable<unknown>;
    await expect(lastValueFrom(reply)).rejects.toEqual(DATA);
  });

  it('is sent to the socket as the event "exception"', () => {
    const socket = new EventEmitter();
    const seen: unknown[] = [];
    socket.on('exception', (data) => seen.push(data));
    filter.catch(new ExecutionNotFoundError('nobody'), host('ws', [socket, {}]));
    expect(seen).toEqual([DATA]);
    const plain = Object.assign(new EventEmitter(), { readyState: 1, send: (text: string) => seen.push(JSON.parse(text)) });
    filter.catch(new ExecutionNotFoundError('nobody'), host('ws', [plain, {}]));
    expect(seen[1]).toEqual({ event: 'exception', data: DATA });
  });

  it('is an HttpException in GraphQL, whose driver reports it', () => {
    try {
      filter.catch(new ExecutionNotFoundError('nobody'), host('graphql', [{}, {}, {}, {}]));
      throw new Error('nothing was thrown');
    } catch (error) {
      expect(error).toBeInstanceOf(HttpException);
      expect((error as HttpException).getResponse()).toMatchObject({ statusCode: 404, code: 'RHYTHM_NOT_FOUND' });
    }
  });
});
