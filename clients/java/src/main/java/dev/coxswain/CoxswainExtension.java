package dev.coxswain;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Gives tests a parameter of type Coxswain: one control plane for all tests of a run. */
public final class CoxswainExtension implements ParameterResolver {
  private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(CoxswainExtension.class);

  private record Shared(Coxswain server) implements ExtensionContext.Store.CloseableResource {
    @Override
    public void close() throws Throwable {
      server.close();
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Coxswain.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context.getRoot().getStore(NAMESPACE).getOrComputeIfAbsent("server", key -> {
      try {
        return new Shared(Coxswain.start());
      } catch (java.io.IOException error) {
        throw new ParameterResolutionException(error.getMessage(), error);
      }
    }, Shared.class).server();
  }
}
