"""Functions: their blocks flattened, their names made unique."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from lark import Token, Tree

from ....spec.errors import InputError
from .declarations import Declarations
from .instructions import read_instruction
from .module import Function, InstructionStatement, Parameter, SourceLine, Variable
from .operands import Label
from .scopes import Scopes


class FunctionReader:
    """From the tree of one function to the `Function`.

    Parameters
    ----------
    declarations : Declarations
        The file's reader of declarations.
    files : mapping of int to str
        Names of source files by their numbers.
    symbols : mapping of str to anything
        Names of the module's variables and functions.
    path : str
        The file, for messages.
    """

    def __init__(
        self,
        declarations: Declarations,
        files: Mapping[int, str],
        symbols: Mapping[str, object],
        path: str,
    ) -> None:
        self._declarations = declarations
        self._files = dict(files)
        self._path = path
        self._scopes = Scopes(symbols)
        self._variables: list[Variable] = []
        self._body: list[InstructionStatement] = []
        self._labels: dict[str, int] = {}
        self._tables: dict[str, str] = {}
        self._source: SourceLine | None = None
        self._in_assembly = False

    def read(self, tree: Tree[Token]) -> Function:
        """Read the function.

        Raises
        ------
        InputError
            If it is no function; the message begins with ``file:line:column``.
        """
        parts = {part.data: part for part in tree.children if isinstance(part, Tree)}
        tokens = {token.type: token for token in tree.children if isinstance(token, Token)}
        name = tokens["NAME"]
        returned = self._parameters(parts.get("returned"))
        parameters = self._parameters(parts.get("parameters"))
        body = parts.get("body")
        self._scopes.open()
        returned = tuple(map(self._declared, returned))
        parameters = tuple(map(self._declared, parameters))
        if body is not None:
            self._read_body(body)
        return Function(
            str(name),
            tokens["FUNCTION_KIND"] == ".entry",
            parameters,
            returned,
            MappingProxyType(self._scopes.registers),
            tuple(self._variables),
            tuple(self._body),
            MappingProxyType(self._labels),
            MappingProxyType(dict(self._limits(tree))),
            MappingProxyType(self._tables),
            tuple(str(word)[1:] for word in parts["linkage"].children),
            body is not None,
            name.line or 0,
        )

    def _parameters(self, tree: Tree[Token] | None) -> tuple[Parameter, ...]:
        children = [] if tree is None else tree.children
        return tuple(self._declarations.parameter(child) for child in children if isinstance(child, Tree))

    def _declared(self, parameter: Parameter) -> Parameter:
        """Declare a parameter, and return it by its unique name."""
        try:
            if parameter.in_register:
                return replace(parameter, name=self._scopes.declare_register(parameter.name, parameter.type))
            return replace(parameter, name=self._scopes.declare_symbol(parameter.name))
        except InputError as error:
            raise InputError(str(error), f"{self._path}:{parameter.line}") from None

    def _limits(self, tree: Tree[Token]) -> Iterator[tuple[str, tuple[int, ...]]]:
        for part in tree.children:
            if not isinstance(part, Tree) or part.data != "limit":
                continue
            directive, *values = part.children
            if isinstance(directive, Token) and directive.type == "LIMIT":
                numbers = (self._declarations.integer(value) for value in values if value is not None)
                yield str(directive)[1:], tuple(numbers)

    def _read_body(self, body: Tree[Token]) -> None:
        """Walk through the blocks, however deep they are."""
        pending = [self._enter(body)]
        while pending:
            statement = next(pending[-1], None)
            if statement is None:
                pending.pop()
                self._scopes.close()
            elif isinstance(statement, Token):
                self._read_token(statement)
            elif statement.data == "scope":
                pending.append(self._enter(statement))
            else:
                self._read_directive(statement)

    def _enter(self, block: Tree[Token]) -> Iterator[Tree[Token] | Token]:
        self._scopes.open()
        for token in block.children:
            if isinstance(token, Token) and token.type == "LABEL":
                try:
                    self._scopes.declare_label(_label_name(token))
                except InputError as error:
                    raise InputError(str(error), self._declarations.where(token)) from None
        return iter(block.children)

    def _read_token(self, token: Token) -> None:
        match token.type:
            case "INSTRUCTION":
                line, column = token.line or 0, token.column or 0
                self._body.append(
                    read_instruction(str(token), self._scopes, self._path, line, column, self._source)
                )
            case "LABEL":
                label = self._scopes.resolve(_label_name(token))
                assert isinstance(label, Label)
                self._labels[label.name] = len(self._body)
            case "INLINE_ASSEMBLY":
                self._in_assembly = "begin" in token
            case "TABLE":
                name, index = self._labels.popitem() if self._labels else ("", -1)
                if index != len(self._body):
                    raise InputError("a label must stand before a table", self._declarations.where(token))
                self._tables[name] = str(token)

    def _read_directive(self, statement: Tree[Token]) -> None:
        match statement.data:
            case "registers":
                self._declarations.registers(statement, self._scopes)
            case "variable":
                self._variables += self._declarations.variables(statement, self._scopes, in_function=True)
            case "file":
                self._files.update([self._declarations.file(statement)])
            case "loc" if not self._in_assembly:  # there LLVM counts lines of the assembly text
                file, line, column = (self._declarations.integer(token) for token in statement.children[:3])
                self._source = SourceLine(self._files.get(file, f"file {file}"), line, column)


def _label_name(token: Token) -> str:
    return str(token)[:-1].rstrip()
