import { isServiceBusy } from "../kernel/errors/classifyError.ts";
import { Fault, type FaultCode } from "../kernel/faults.ts";

/** Converts any thrown value to a fault. Errors that are not meant for callers become internal_error. */
export function toFault(error: unknown, unavailableFault: FaultCode = "internal_error"): Fault {
  if (error instanceof Fault) return error;
  const status: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "statusCode") : undefined;
  if (typeof status === "number" && status >= 400 && status < 500)
    return new Fault("invalid_request", { cause: error });
  return new Fault(isServiceBusy(error) ? unavailableFault : "internal_error", { cause: error });
}
