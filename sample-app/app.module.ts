// The shop: its own tables through @nestjs/typeorm, and Rhythm on the same database.

import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RhythmExceptionFilter, RhythmModule, type RhythmModuleOptions } from '../src/index.js';
import { LabelPrinter } from './orders/label.printer.js';
import { LedgerEntry, Order, Stock } from './orders/order.entity.js';
import { OrderTasks } from './orders/order.tasks.js';
import { OrdersController } from './orders/orders.controller.js';
import { ORDER_POLICY, type OrderPolicy, OrdersService } from './orders/orders.service.js';
import { PaymentTasks } from './orders/payment.tasks.js';
import { StockSeeder } from './orders/stock.seeder.js';
import { StockTasks } from './orders/stock.tasks.js';

export interface ShopOptions {
  databaseUrl: string;
  policy?: Partial<OrderPolicy>;
  /** How long a label takes to print. */
  printerMs?: number;
  rhythm?: RhythmModuleOptions;
}

const POLICY: OrderPolicy = { approvalAbove: 500, approvalTimeout: '24h', reviewAfter: '3d' };

@Module({})
export class AppModule {
  static with({ databaseUrl, policy, printerMs = 20, rhythm }: ShopOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRoot({ type: 'postgres', url: databaseUrl, entities: [Order, LedgerEntry, Stock], synchronize: true }),
        RhythmModule.forRoot({ database: databaseUrl, flows: ['sample-app/flows'], ...rhythm }),
      ],
      controllers: [OrdersController],
      providers: [
        // An unknown order is 404, a different order with the same id 409.
        { provide: APP_FILTER, useClass: RhythmExceptionFilter },
        OrdersService,
        OrderTasks,
        PaymentTasks,
        StockTasks,
        StockSeeder,
        { provide: LabelPrinter, useValue: new LabelPrinter(printerMs) },
        { provide: ORDER_POLICY, useValue: { ...POLICY, ...policy } },
      ],
    };
  }
}
