package dev.coxswain;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(CoxswainExtension.class)
class CoxswainTest {
  private static Coxswain first;

  private static void connect(Coxswain server) throws IOException {
    URI url = URI.create(server.url());
    new Socket(url.getHost(), url.getPort()).close();
  }

  private static void isShared(Coxswain server) throws IOException {
    if (first == null) first = server;
    assertSame(first, server);
    connect(server);
    assertTrue(Files.readString(server.kubeconfig()).contains("certificate-authority-data"));
  }

  @Test
  void theExtensionServes(Coxswain server) throws IOException {
    isShared(server);
  }

  @Test
  void allTestsHaveTheSame(Coxswain server) throws IOException {
    isShared(server);
  }

  @Test
  void itStopsAndRemovesItsFiles() throws IOException {
    Coxswain server = Coxswain.start("--controllers=none");
    connect(server);
    server.close();
    assertFalse(Files.exists(server.kubeconfig()));
    assertThrows(IOException.class, () -> connect(server));
  }

  @Test
  void itTellsWhyItDidNotStart() {
    var error = assertThrows(IOException.class, () -> Coxswain.start("--no-such-flag"));
    assertTrue(error.getMessage().contains("unknown option '--no-such-flag'"), error.getMessage());
  }
}
