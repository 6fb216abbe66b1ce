import torch
import torch.nn as nn
import torch.nn.functional as F

M = 512
K = 384
N = 640


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(M, K), torch.randn(K, N)]


def get_init_inputs():
    return []
